import { existsSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { keyFailureWords } from '../account/keys.ts';
import { type Config, ConfigError, parseConfig } from '../config.ts';
import type { Store } from '../context.ts';
import { HostingError, isRefusal } from '../core/errors.ts';
import { MINUTE_MS } from '../core/time.ts';
import { DatabaseMissing, DatabaseUnusable } from '../db/database.ts';
import { openStore } from '../db/open-store.ts';
import { createVault, type Vault } from '../db/vault.ts';
import { createHosting } from '../hosting/client.ts';
import { count } from '../slack/kit/text.ts';
import { realSystem } from '../system.ts';
import { CERTIFICATE, checkSlack, fetchPage, type Page, type Status } from './doctor-slack.ts';
import { type Program, print, readArguments } from './program.ts';

const USAGE = `Usage:
  vps-slack doctor          checks the settings, Slack, the hosting API, the database and the encryption keys, and says how to
                            fix what is wrong; sends nothing that costs money, and posts and changes nothing
      [--json]              prints one JSON object, for monitors
Exit code: 0 if nothing has to be fixed, 1 if something has, 2 for wrong usage.`;

const OPTIONS = { json: { type: 'boolean', default: false } } as const;

const MARKS: Readonly<Record<Status, string>> = {
  ok: '✓ ok     ',
  warning: '! warning',
  failed: '✗ FIX    ',
  skipped: '– skipped',
};

async function run(args: readonly string[]): Promise<void> {
  const { values } = readArguments(args, OPTIONS);
  const findings: { check: string; status: Status; text: string }[] = [];
  const report = (check: string, status: Status, text: string) => {
    // What others answer may control the terminal.
    const finding = { check, status, text: text.replace(/[\p{Cc}\p{Cf}]/gu, ' ') };
    findings.push(finding);
    if (!values.json) print(`${MARKS[status]} ${check}: ${finding.text}`);
  };
  await checkEverything(report).catch((error: unknown) => {
    const cause = error instanceof Error ? error.message : 'unknown';
    report('doctor', 'failed', `Stopped by an error: ${cause}. Nothing after that was checked.`);
  });
  const of = (status: Status) => findings.filter((each) => each.status === status).length;
  const ok = of('failed') === 0;
  if (values.json) print(JSON.stringify({ version: 1, ok, checks: findings }, undefined, 2));
  else
    print(
      `\n${of('ok')} ok, ${count(of('warning'), 'warning')}, ${of('failed')} to fix, ${of('skipped')} skipped.`,
    );
  process.exitCode = ok ? 0 : 1;
}

export const doctor: Program = { usage: USAGE, run };

type Report = (check: string, status: Status, text: string) => void;

async function checkEverything(report: Report): Promise<void> {
  checkNode(process.versions.node, report);
  const config = readSettings(report);
  if (!config) return report('everything else', 'skipped', 'needs the settings.');
  const vault = createVault(config.ENCRYPTION_KEYS);
  const store = await openDatabase(config, vault, report);
  try {
    if (store) await checkDatabase(store, config, report);
    checkDisk(config, report);
    await checkHosting(config, store, vault, report);
    report('app', ...(await judgeApp(config)));
    report('public address', ...(await judgeAddress(config)));
    await checkSlack({ config, store, report });
  } finally {
    await store?.close();
  }
}

/** As `engines` of package.json. */
export function checkNode(version: string, report: Report): void {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const fits = major >= 24 || (major === 22 && minor >= 13) || (major === 20 && minor >= 19);
  if (fits) report('Node.js', 'ok', `${version}.`);
  else report('Node.js', 'failed', `${version} isn’t supported. Install 20.19+, 22.13+ or 24+ (24 is best).`);
}

function readSettings(report: Report): Config | undefined {
  try {
    const config = parseConfig(process.env);
    report('settings', 'ok', 'complete.');
    return config;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    for (const fault of error.faults) report('settings', 'failed', `${fault}.`);
    return undefined;
  }
}

async function openDatabase(
  { DATABASE_URL: databaseUrl, SPILL_DIR: spillDir }: Config,
  vault: Vault,
  report: Report,
): Promise<Store | undefined> {
  try {
    return await openStore({ databaseUrl, spillDir, vault, system: realSystem, lock: false });
  } catch (error) {
    const words = error instanceof Error ? error.message : 'unknown';
    // Before the first start, that is as it should be.
    if (error instanceof DatabaseMissing) report('database', 'warning', words);
    else if (error instanceof DatabaseUnusable && !/can't be (used|opened|made)/.test(words))
      report('database', 'failed', words);
    else report('database', 'failed', `${words.replace(/\.$/, '')}. ${CHECK_DATABASE}`);
    return undefined;
  }
}

const CHECK_DATABASE =
  'Check DATABASE_URL, the permissions of the file or, with PostgreSQL, that the server is up and accepts this machine.';

async function checkDatabase(store: Store, config: Config, report: Report): Promise<void> {
  const engine = config.DATABASE_URL.startsWith('sqlite:') ? 'SQLite' : 'PostgreSQL';
  const blocked = `${engine} can be read, but not written. Check who owns the files, the free space and, with PostgreSQL, that this is the primary.`;
  await store.ping().then(
    () => report('database', 'ok', `${engine} can be read and written, and has this version’s schema.`),
    () => report('database', 'failed', blocked),
  );
  const { count, unopened, missingKeys } = await store.sealed.openAll();
  const altered = unopened.filter(({ why }) => why === 'altered').length;
  const lacks = `ENCRYPTION_KEYS lacks ${missingKeys.join(', ')}, which encrypts data that is still needed. Put it back, after the others.`;
  const differ = `${altered} of ${count} encrypted values were altered, or belong to another row. "vps-slack key rotate --dry-run" names them; restore them from a backup.`;
  if (missingKeys.length > 0) report('encryption keys', 'failed', lacks);
  if (altered > 0) report('encryption keys', 'failed', differ);
  if (unopened.length === 0)
    report('encryption keys', 'ok', `all ${count} encrypted values can be decrypted.`);
}

const GB = 2 ** 30;

function checkDisk({ DATABASE_URL, SPILL_DIR }: Config, report: Report): void {
  const file = DATABASE_URL.startsWith('sqlite:') ? DATABASE_URL.slice('sqlite:'.length) : undefined;
  if (file === undefined)
    report('disk', 'skipped', 'PostgreSQL doesn’t say how full its disk is. Watch it there.');
  for (const folder of new Set([...(file ? [dirname(file)] : []), ...(SPILL_DIR ? [SPILL_DIR] : [])]))
    report('disk', ...judgeFolder(folder));
}

type Verdict = [Status, string];

function judgeFolder(folder: string): Verdict {
  if (!existsSync(folder))
    return ['warning', `${folder} doesn’t exist yet. The app creates it when it starts.`];
  const { bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  const text = `${(free / GB).toFixed(1)} GB are free in ${folder}.`;
  if (free >= GB) return ['ok', text];
  const words = `${text} Free some space: when the disk is full, orders are refused.`;
  return [free < GB / 10 ? 'failed' : 'warning', words];
}

async function checkHosting(
  config: Config,
  store: Store | undefined,
  { namesOf }: Vault,
  report: Report,
): Promise<void> {
  const { HOSTING_BASE_URL: baseUrl, HOSTING_TIMEOUT_MS: timeoutMs } = config;
  const { host } = new URL(baseUrl);
  const page = await fetchPage(baseUrl);
  if ('code' in page) {
    const text = `${host} can’t be reached (${page.code}). Check HOSTING_BASE_URL, and this machine’s DNS, firewall and proxy. ${CERTIFICATE}`;
    return report('hosting API', 'failed', text);
  }
  report('hosting API', 'ok', `${host} answers.`);
  report('clock', ...judgeClock(host, page));
  if (!store) return report('API keys', 'skipped', 'needs the database.');
  const workspaceIds = await store.apiKeys.listWorkspaces();
  if (workspaceIds.length === 0)
    report('API keys', 'warning', 'There are none. Run /vps connect in Slack, or vps-slack key set.');
  const hosting = createHosting({ baseUrl, timeoutMs, system: realSystem, calls: store.apiCalls, namesOf });
  try {
    for (const id of workspaceIds) {
      const held = await store.apiKeys.find(id).catch(() => undefined);
      // Reported with the encryption keys.
      if (!held) continue;
      const verdict = await tryKey(() => hosting.of(held.key, id).fetchServers({ freshness: 'fresh' }));
      report(`API key of ${id}`, ...verdict);
    }
  } finally {
    await hosting.close();
  }
}

export async function tryKey(list: () => Promise<{ servers: readonly unknown[] }>): Promise<Verdict> {
  try {
    const { servers } = await list();
    const words = `works (${count(servers.length, 'server')}). Treat it as having full access to its account: the hosting API documents no read-only keys.`;
    return ['ok', words];
  } catch (error) {
    // The app may be using up the limit, which is no fault of the setup.
    if (isRefusal(error, 'waited_too_long')) return ['warning', keyFailureWords('rate_limited')];
    if (!(error instanceof HostingError)) throw error;
    return [error.code === 'rate_limited' ? 'warning' : 'failed', keyFailureWords(error.code)];
  }
}

/** Slack's signatures are valid for five minutes. */
function judgeClock(host: string, { date }: Page): Verdict {
  if (date === undefined) return ['skipped', `${host} doesn’t report the time.`];
  const offMs = realSystem.now() - date;
  const off = `This machine is ${Math.round(Math.abs(offMs) / 1000)} s ${offMs < 0 ? 'behind' : 'ahead of'} ${host}.`;
  if (Math.abs(offMs) < MINUTE_MS) return ['ok', off];
  return [Math.abs(offMs) < 5 * MINUTE_MS ? 'warning' : 'failed', `${off} Turn on NTP.`];
}

async function judgeApp({ HOST, PORT }: Config): Promise<Verdict> {
  const host = HOST === '0.0.0.0' || HOST === '::' ? '127.0.0.1' : HOST;
  const ready = await fetchPage(`http://${host}:${PORT}/readyz`);
  if ('code' in ready)
    return ['warning', `It isn’t running at ${host}:${PORT} (${ready.code}). Start it: vps-slack start`];
  if (ready.status === 200) return ['ok', `ready at ${host}:${PORT}.`];
  return ['failed', `Running, but not ready: ${ready.text.trim().replaceAll('\n', '; ')}`];
}

async function judgeAddress({ PUBLIC_URL }: Config): Promise<Verdict> {
  if (PUBLIC_URL === undefined) return ['skipped', 'PUBLIC_URL isn’t set.'];
  const url = `${PUBLIC_URL}/livez`;
  const page = await fetchPage(url);
  // Some networks don't let a machine reach its own public address, so this proves nothing.
  if ('code' in page) {
    const words = `${url} can’t be reached from this machine (${page.code}). Check the DNS name, the proxy with TLS and the firewall, or open it from elsewhere.`;
    return ['warning', words];
  }
  if (page.status === 200 && page.text.trim() === 'ok') return ['ok', `${url} answers.`];
  const words =
    page.status >= 500
      ? `${url} answers ${page.status}: start the app, and check where the proxy forwards to.`
      : `${url} is answered by something other than the app (HTTP ${page.status}). Check PUBLIC_URL and where the proxy forwards to.`;
  return ['failed', words];
}
