// What a TypeScript client may rely on. This file is only compiled, against
// types generated from openapi.yaml: it establishes that `status` and `type`
// tell the shapes apart, and that nothing is optional that is always there.
// Each @ts-expect-error is a control: if the line under it compiled, it would
// be an error that there is none.
import type { components, operations } from "./openapi";

type Schemas = components["schemas"];
type RunResult = Schemas["RunResult"];
type Event = Schemas["Event"];

// Same is true only for two types that are each assignable to the other.
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
const same = <A, B>(_: Same<A, B>): void => {};

const impossible = (x: never): never => {
  throw new Error(`not in the contract: ${JSON.stringify(x)}`);
};

export function verdict(result: RunResult): string {
  switch (result.status) {
    case "observed": {
      const process: Schemas["ProcessFacts"] = result.process;
      const credited: boolean = result.attributable;
      return credited ? process.stdout.data : result.problems.map((p) => p.code).join(" ");
    }
    case "not-started": {
      const kept: string = result.namespace === null ? "nothing" : result.namespace.state;
      // @ts-expect-error a run that did not start has no process
      result.process;
      // @ts-expect-error and nothing that could be credited
      result.attributable;
      return `${result.reason}: ${result.message}, left ${kept}`;
    }
    case "unresolved":
      // @ts-expect-error only what was observed is attributable or not
      result.attributable;
      return result.namespace.path; // always quarantined
    default:
      return impossible(result);
  }
}

export function incomplete(result: RunResult): string {
  switch (result.status) {
    case "observed":
    case "not-started":
      return result.runId;
    default:
      // @ts-expect-error one of the three is not handled
      return impossible(result);
  }
}

export function untold(result: RunResult): void {
  // @ts-expect-error without a look at the status there is no process
  result.process;
  // @ts-expect-error a fourth status does not exist
  if (result.status === "failed") return;
  // @ts-expect-error the status of a result is a word, that of a problem a number
  const n: number = result.status;
  void n;
}

export function exit(facts: Schemas["ProcessFacts"]): string {
  // @ts-expect-error null where the process was not reaped
  facts.exit.code;
  if (facts.exit === null) return "unknown";
  const { code, signal } = facts.exit;
  same<typeof code, number | null>(true);
  same<typeof signal, string | null>(true);
  same<Schemas["Limit"], number | "unlimited">(true);
  // @ts-expect-error the control of `same`
  same<typeof code, number>(true);
  return facts.stopped ?? signal ?? `code ${code}`;
}

export function line(event: Event): string {
  switch (event.type) {
    case "accepted":
      return `place ${event.position}`;
    case "stage":
      return event.stage;
    case "output":
      return `${event.stream}: ${event.bytes.data}`;
    case "heartbeat":
      // @ts-expect-error a heartbeat says nothing else
      event.stage;
      return "";
    case "result":
      return verdict(event.result);
    case "problem":
      return event.problem.code;
    default:
      return impossible(event);
  }
}

export function slot(namespace: Schemas["Namespace"]): boolean | string {
  // @ts-expect-error only what was removed is durable or not
  namespace.durable;
  return namespace.state === "removed" ? namespace.durable : namespace.reason;
}

// Every answer of every operation has a type, and every refusal is a problem.
type Answer<Op extends keyof operations, Status extends number, Media extends string> = operations[Op]["responses"] extends {
  [_ in Status]: { content: { [_ in Media]: infer Body } };
}
  ? Body
  : "not in the contract";
same<Answer<"createRun", 200, "application/json">, RunResult>(true);
same<Answer<"createRun", 200, "application/x-ndjson">, Event>(true);
same<Answer<"createRun", 429, "application/problem+json">, Schemas["Problem"]>(true);
same<Answer<"releaseSlot", 412, "application/problem+json">, Schemas["Problem"]>(true);
same<Answer<"createRun", 418, "application/json">, "not in the contract">(true);

const digest = `sha256:${"0".repeat(64)}`;
export const request: Schemas["InlineRunRequest"] = {
  runtime: digest,
  profile: digest,
  program: { digest, entry: "main.mjs", files: [{ path: "main.mjs", content: { encoding: "utf-8", data: "" } }] },
  input: { digest, files: [] },
  timeoutMs: 1000,
  maxOutputBytes: 0,
  cpuSeconds: 1,
  maxDescriptors: 64,
};
// @ts-expect-error every bound is required
export const unbounded: Schemas["RunRequest"] = { runtime: digest, profile: digest, program: { digest, entry: "main.mjs" }, input: { digest } };
// @ts-expect-error a field that does not exist
export const unknown: Schemas["Bytes"] = { encoding: "utf-8", data: "", charset: "utf-8" };
// @ts-expect-error an encoding that does not exist
export const latin: Schemas["Bytes"] = { encoding: "latin1", data: "" };
