import { fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { portOf, ROOT } from './processes.ts';
import { openSetting } from './setting.ts';

const setting = await openSetting({ servers: 20 });
const env = await setting.makeEnvironment();
const probe = `data:text/javascript,${encodeURIComponent('import v8 from "node:v8";process.on("message",()=>{process.send({m:process.memoryUsage(),s:v8.getHeapSpaceStatistics().map(x=>[x.space_name,(x.space_size/1e6).toFixed(1),(x.space_used_size/1e6).toFixed(1)].join(" ")),c:v8.getHeapCodeStatistics()})});process.channel.unref();')}`;
for (const flags of [[], ...process.argv.slice(2).map((f) => f.split(','))]) {
  const child = fork(process.env.PROG ?? `${ROOT}dist/main.js`, {
    execArgv: [...flags, '--import', probe],
    env: { PATH: process.env.PATH, ...env },
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  await portOf(child);
  await new Promise((r) => setTimeout(r, 4000));
  const m: any = await new Promise((r) => {
    child.once('message', r);
    child.send('x');
  });
  const rss = readFileSync(`/proc/${child.pid}/smaps_rollup`, 'utf8')
    .split('\n')
    .filter((l) => /^(Rss|Pss|Anonymous|Private)/.test(l))
    .join(' ')
    .replace(/ +/g, ' ');
  console.log(
    flags.join(' ') || 'plain',
    'rss',
    (m.m.rss / 1e6).toFixed(1),
    'heap',
    (m.m.heapTotal / 1e6).toFixed(1),
    (m.m.heapUsed / 1e6).toFixed(1),
    'ext',
    (m.m.external / 1e6).toFixed(1),
    rss,
  );
  if (flags.length === 0) console.log(m.s.join('\n'), m.c);
  child.kill('SIGTERM');
  await new Promise((r) => child.once('exit', r));
}
await setting[Symbol.asyncDispose]();
process.exit();
