import { fork } from 'node:child_process';
import { Pool } from 'undici';
import { signCommands } from './commands.ts';
import { drive } from './load.ts';
import { portOf, ROOT } from './processes.ts';
import { openSetting } from './setting.ts';

const typed = process.argv[2] ?? 'show web-7';
const prof = process.argv[3] === 'prof';
const setting = await openSetting({ servers: 20 });
const env = await setting.makeEnvironment();
const child = fork(process.env.PROG ?? `${ROOT}dist/main.js`, {
  execArgv: [
    ...(prof ? ['--cpu-prof', '--cpu-prof-dir=/tmp/prof', '--cpu-prof-interval=100'] : []),
    '--import',
    `data:text/javascript,${encodeURIComponent('process.on("message",()=>process.send(process.cpuUsage()));process.channel.unref();')}`,
  ],
  env: { PATH: process.env.PATH, ...env },
  cwd: ROOT,
  stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
});
const port = await portOf(child);
const cpu = () =>
  new Promise<number>((r) => {
    child.once('message', (m: any) => r(m.user + m.system));
    child.send('x');
  });
const pool = new Pool(`http://127.0.0.1:${port}`, { connections: 64 });
const results: number[] = [];
for (let round = 0; round < 9; round++) {
  const before = await cpu();
  const run = await drive(pool, signCommands(2000, typed, 'http://127.0.0.1:1'), 16, 60000);
  results.push(Math.round(((await cpu()) - before) / run.latenciesMs.length));
}
console.log(typed, results.join(' '));
await pool.close();
child.kill('SIGTERM');
await new Promise((r) => child.once('exit', r));
await setting[Symbol.asyncDispose]();
process.exit();
