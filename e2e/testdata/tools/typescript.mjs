// Is `tsc`, but that it prints what it would write to files, and ends by itself: process.exit() may lose what is still on its way.
import ts from 'typescript';

ts.sys.writeFile = (path, text) => console.log(`// ${path.slice(process.cwd().length + 1)}\n${text}`);
ts.sys.exit = code => { process.exitCode = code; };
ts.executeCommandLine(ts.sys, () => {}, process.argv.slice(2));
