// Makes a database of a lock file, asks it, and prints the answers and then the database itself.
import { readFileSync } from 'node:fs';
import initSqlJs from 'sql.js';

const SQL = await initSqlJs();
const db = new SQL.Database();
db.run('create table package (path text primary key, version text, integrity text)');
db.run('create table needs (path text references package, name text, range text)');
db.run('begin');
for (const [path, { version, integrity, dependencies }] of Object.entries(JSON.parse(readFileSync('package-lock.json', 'utf8')).packages)) {
	db.run('insert into package values (?, ?, ?)', [path, version ?? null, integrity ?? null]);
	for (const [name, range] of Object.entries(dependencies ?? {})) db.run('insert into needs values (?, ?, ?)', [path, name, range]);
}
db.run('commit');
db.create_function('scope', path => path.match(/@[^/]+/)?.[0] ?? '');
const ask = sql => console.log(JSON.stringify(db.exec(sql)[0].values));
ask('select count(*), count(distinct version), count(integrity) from package');
ask('select name, count(*) as n from needs group by name order by n desc, name limit 20');
ask("select scope(path) as s, group_concat(version, ' ') from (select * from package order by path) group by s");
ask(`with recursive tree(name, depth) as (select 'eslint', 0 union select needs.name, depth + 1 from needs, tree
	where needs.path = 'node_modules/' || tree.name and depth < 9) select name, min(depth) from tree group by name order by 2, 1`);
const copy = new SQL.Database(db.export());
console.log(copy.exec('pragma integrity_check')[0].values[0][0]);
process.stdout.write(copy.export());
