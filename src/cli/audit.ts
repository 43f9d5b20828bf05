import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import type { AuditLog } from '../app/account/ports.ts';
import { parseAuditConfig } from '../config.ts';
import { DAY_MS, findDay } from '../domain/time.ts';
import { openStore } from '../store/open-store.ts';
import { realSystem } from '../system.ts';
import { createVault, parseKeyring, VaultError } from '../vault.ts';
import { AUDIT_FORMATS, type AuditFormat } from './audit-formats.ts';

const USAGE = `Usage:
  npm run -s audit -- [export] --format csv|jsonl   writes who did what, oldest first, to standard output
      [--workspace T…] [--since 2026-01-01] [--until 2026-01-31] [--actor U…] [--server <label or id>]
      Days are of UTC and whole: both are included.
  npm run -s audit -- verify [--workspace T…]       finds an entry that was changed, removed or moved
  npm run -s audit -- prune --older-than-days 365   removes older entries; what is left can still be verified
--workspace may be given several times; without it, all count.`;

type Asked = ReturnType<typeof readArguments>;

/** The audit without Slack: for auditors, and for whoever asks whether it is still true. Works beside a running app. */
async function main(): Promise<void> {
  const asked = readArguments();
  const act = prepare(asked);
  const config = parseAuditConfig(process.env);
  const vault = createVault(parseKeyring(config.ENCRYPTION_KEYS.reveal()));
  const store = await openStore({ databaseUrl: config.DATABASE_URL, vault, system: realSystem, lock: false });
  try {
    const isGood = await act(store.audit);
    if (!isGood) process.exitCode = 1;
  } finally {
    await store.close();
  }
}

function readArguments() {
  try {
    return parseArgs({
      options: {
        format: { type: 'string' },
        workspace: { type: 'string', multiple: true, default: [] },
        since: { type: 'string' },
        until: { type: 'string' },
        actor: { type: 'string' },
        server: { type: 'string' },
        'older-than-days': { type: 'string' },
      },
      allowPositionals: true,
    });
  } catch {
    throw new Error(USAGE);
  }
}

/** Checks all that was typed before anything is opened. */
function prepare({ values, positionals }: Asked): (audit: AuditLog) => Promise<boolean> {
  const [act = 'export', ...rest] = positionals;
  const { format, workspace: wanted, 'older-than-days': days } = values;
  if (rest.length > 0 || !wanted.every((id) => /^[TE][A-Z0-9]+$/.test(id))) throw new Error(USAGE);
  if (act === 'verify') return (audit) => verify(audit, wanted);
  if (act === 'prune' && wanted.length === 0 && days !== undefined) {
    const count = Number(days);
    if (!/^[1-9]\d{0,4}$/.test(days)) throw new Error('--older-than-days takes a number of days from 1 on.');
    return (audit) => prune(audit, realSystem.now() - count * DAY_MS);
  }
  const chosen = act === 'export' && format !== undefined && Object.hasOwn(AUDIT_FORMATS, format);
  const form = chosen ? AUDIT_FORMATS[format] : undefined;
  if (!form) throw new Error(USAGE);
  const until = parseDay('--until', values.until);
  const filter = {
    ...keepGiven('since', parseDay('--since', values.since)),
    ...keepGiven('until', until === undefined ? undefined : until + DAY_MS),
    ...keepGiven('actorId', values.actor),
    ...keepGiven('server', values.server),
  };
  return async (audit) => writeOut(exportLines(audit, form, await listWanted(audit, wanted), filter));
}

async function* exportLines(
  audit: AuditLog,
  form: AuditFormat,
  workspaceIds: readonly string[],
  filter: Omit<Parameters<AuditLog['read']>[0], 'workspaceId'>,
): AsyncGenerator<string> {
  if (form.head !== '') yield form.head;
  for (const workspaceId of workspaceIds) {
    for await (const entry of audit.read({ ...filter, workspaceId })) yield form.write(entry);
  }
}

/** Whoever reads the output may have enough of it (`| head`): that is no fault. */
async function writeOut(lines: AsyncIterable<string>): Promise<boolean> {
  try {
    await pipeline(Readable.from(lines), process.stdout, { end: false });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EPIPE')) throw error;
  }
  return true;
}

async function verify(audit: AuditLog, wanted: readonly string[]): Promise<boolean> {
  const workspaceIds = await listWanted(audit, wanted);
  if (workspaceIds.length === 0) say('The audit has no entries yet.');
  let isGood = true;
  for (const id of workspaceIds) {
    const verdict = await audit.verify(id);
    const { words, isWhole } = describeVerdict(verdict);
    say(`${id}: ${words}`);
    isGood &&= isWhole;
  }
  return isGood;
}

function describeVerdict(verdict: Awaited<ReturnType<AuditLog['verify']>>) {
  if (!verdict.ok) return { isWhole: false, words: verdict.words };
  const { entries, from, to, pruned } = verdict;
  // Every workspace that is known to the audit has some, since pruning leaves its own.
  if (entries === 0) return { isWhole: false, words: 'there are no entries, and there never were any.' };
  const older = pruned
    ? ` ${pruned.count} older ones were pruned, the last time on ${new Date(pruned.at).toISOString().slice(0, 10)}.`
    : '';
  return { isWhole: true, words: `${entries} entries (${from} to ${to}) are as they were written.${older}` };
}

async function prune(audit: AuditLog, before: number): Promise<boolean> {
  const by = { at: realSystem.now(), actorId: 'command line', surface: 'command_line' } as const;
  const outcomes = await audit.prune(before, by);
  if (outcomes.length === 0) say('The audit has no entries yet.');
  for (const { workspaceId, removed, fault } of outcomes) {
    const stopped = fault
      ? ` Then it stopped: ${fault.words} That entry and all after it are kept as evidence.`
      : '';
    say(`${workspaceId}: ${removed} entries were removed.${stopped}`);
  }
  return outcomes.every(({ fault }) => fault === undefined);
}

async function listWanted(audit: AuditLog, wanted: readonly string[]): Promise<readonly string[]> {
  return wanted.length > 0 ? wanted : audit.listWorkspaces();
}

function parseDay(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const at = findDay(text);
  if (at === undefined) throw new Error(`${option} takes a day, written like 2026-01-31.`);
  return at;
}

function keepGiven<Name extends string, Value>(name: Name, value: Value | undefined) {
  return (value === undefined ? {} : { [name]: value }) as { [Key in Name]?: Value };
}

function say(words: string): void {
  process.stdout.write(`${words}\n`);
}

function describeFault(error: unknown): string {
  if (error instanceof VaultError) return `ENCRYPTION_KEYS can't be read: ${error.message}.`;
  return error instanceof Error ? error.message : 'That did not work.';
}

// `verify | head -1` closes it as well, and what it says is told by the exit code.
process.stdout.on('error', (error: Error & { code?: string }) => {
  if (error.code !== 'EPIPE') throw error;
});
main().catch((error: unknown) => {
  process.stderr.write(`${describeFault(error)}\n`);
  process.exitCode = 1;
});
