// Loaded before the app (`node --import`): counts the points at which it could crash, and ends it at one of them as
// `kill -9` would. Points are before and after every write to the database, when a request to the hosting service or to
// Slack is about to leave, has left, or is answered, and around every request from Slack. Counting starts with SIGUSR2.
import { channel } from 'node:diagnostics_channel';
import { appendFileSync } from 'node:fs';
import { SqliteDriver } from 'kysely';
import pg from 'pg';

const crashAt = Number(process.env.CRASH_AT);
const points = process.env.CRASH_POINTS;
let isCounting = false;
let passed = 0;

function point(name) {
  if (!isCounting) return;
  passed++;
  appendFileSync(points, `${name}\n`);
  if (passed === crashAt) process.kill(process.pid, 'SIGKILL');
}

const WRITE = /^\s*(insert|update|delete|commit)\b/i;
// The background asks twice a second for what is due; only an answer is a write.
const LOOKS_FOR_WORK = /order by "due_at"/i;

const watched = new WeakSet();
const { acquireConnection } = SqliteDriver.prototype;
SqliteDriver.prototype.acquireConnection = async function () {
  const connection = await acquireConnection.call(this);
  if (!watched.has(connection)) watch(connection);
  return connection;
};

function watch(connection) {
  watched.add(connection);
  const executeQuery = connection.executeQuery.bind(connection);
  connection.executeQuery = (query) => watchStatement(query.sql, () => executeQuery(query));
}

const { query: queryPostgres } = pg.Client.prototype;
pg.Client.prototype.query = function (...given) {
  const isPlain = typeof given[0] === 'string' && typeof given.at(-1) !== 'function';
  const run = () => queryPostgres.apply(this, given);
  return isPlain ? watchStatement(given[0], run) : run();
};

async function watchStatement(sql, run) {
  const isLook = LOOKS_FOR_WORK.test(sql);
  if (!WRITE.test(sql)) return run();
  const name = sql.trim().split(/\s+/).slice(0, 3).join(' ').toLowerCase();
  if (!isLook) point(`before ${name}`);
  const result = await run();
  if (!isLook || result.rows.length > 0) point(`after ${name}`);
  return result;
}

const pathOf = ({ request }) => `${request.method} ${request.path.replace(/[0-9A-Za-z]{20,}/g, '…')}`;
channel('undici:request:create').subscribe((message) => point(`before ${pathOf(message)}`));
channel('undici:request:bodySent').subscribe((message) => point(`sent ${pathOf(message)}`));
channel('undici:request:headers').subscribe((message) => point(`answered ${pathOf(message)}`));
channel('http.server.request.start').subscribe(() => point('before a request of Slack'));
channel('http.server.response.finish').subscribe(() => point('after a request of Slack'));

process.on('SIGUSR2', () => {
  isCounting = true;
  process.stdout.write('counting crash points\n');
});
