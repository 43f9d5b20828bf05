import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, readdirSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePort } from './free-port.ts';
import { readOutput } from './programs.ts';
import { queryDatabase } from './query-database.ts';

const DEBIAN = '/usr/lib/postgresql';

function findProgram(name: string): string | undefined {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    ...(process.env.PATH ?? '').split(':'),
    ...versions.map((version) => `${DEBIAN}/${version}/bin`),
  ];
  return folders.map((folder) => join(folder, name)).find(existsSync);
}

/** The programs that this machine lacks. */
export function listMissingPrograms(): readonly string[] {
  return ['initdb', 'postgres'].filter((name) => findProgram(name) === undefined);
}

/** PostgreSQL refuses to run as root: there it runs as its own user. */
function postgresUser() {
  if (process.getuid?.() !== 0) return {};
  const idOf = (option: string) => Number(execFileSync('id', [option, 'postgres'], { encoding: 'utf8' }));
  return { uid: idOf('-u'), gid: idOf('-g') };
}

/** Starts a fresh server with an empty database, whose files are in this folder. */
export async function startPostgres(parent: string) {
  const folder = join(parent, 'postgres');
  const files = join(folder, 'files');
  const user = postgresUser();
  await mkdir(folder);
  if (user.uid !== undefined) {
    chownSync(parent, user.uid, user.gid);
    chownSync(folder, user.uid, user.gid);
  }
  const options = { cwd: folder, stdio: 'pipe', ...user } as const;
  const setUp = ['-D', files, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'];
  execFileSync(findProgram('initdb') ?? 'initdb', setUp, options);
  const port = await findFreePort();
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const place = ['-D', files, '-p', String(port), '-k', folder, '-h', '127.0.0.1'];
  const start = [...place, '-c', 'shared_buffers=32MB', '-c', 'max_wal_size=128MB'];

  let running: ChildProcess | undefined;
  const up = async () => {
    const child = spawn(findProgram('postgres') ?? 'postgres', start, options);
    running = child;
    const output = readOutput(child);
    const answersSql = () =>
      queryDatabase(url, 'select 1').then(
        () => true,
        () => false,
      );
    while (!(await answersSql())) {
      if (child.exitCode !== null) throw new Error(`PostgreSQL did not start:\n${output()}`);
      await sleep(30);
    }
  };
  const down = async (signal: NodeJS.Signals) => {
    if (!running || running.exitCode !== null || running.signalCode !== null) return;
    const ended = once(running, 'exit');
    running.kill(signal);
    await ended;
  };
  await up();
  return {
    url,
    /** Ends it as a crash does, and starts it again on the same files. */
    crash: () => down('SIGQUIT').then(up),
    /** Stops it in order, without waiting for its clients, and starts it again. */
    restart: () => down('SIGINT').then(up),
    [Symbol.asyncDispose]: () => down('SIGINT'),
  };
}
