import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { parseAuditHead } from '../account/audit.ts';
import { parseStoreConfig } from '../config.ts';
import type { Store } from '../context.ts';
import type { StoredEntry } from '../core/audit-entry.ts';
import type { WorkspaceId } from '../core/ids.ts';
import { describeMoney } from '../core/money.ts';
import { DAY_MS, findDay } from '../core/time.ts';
import type { AuditHead, AuditVerdict } from '../db/audit-log.ts';
import { csvLine } from '../slack/kit/text.ts';
import {
  type Program,
  parseWorkspaceId,
  print,
  readArguments,
  UsageError,
  withStore,
  wrongCommand,
} from './program.ts';

const USAGE = `Usage:
  vps-slack audit [export] --format csv|jsonl   writes the audit log to standard output, oldest first
      [--workspace T…] [--since 2026-01-01] [--until 2026-01-31] [--actor U…] [--server <label or ID>]
      Dates are whole UTC days, inclusive.
  vps-slack audit verify [--workspace T…]       finds altered, removed or moved entries
      [--head <number>:<signature>]  checks against an "audit head" line in the log; needs exactly one --workspace
Repeat --workspace for several; default: all. [--json]  for other programs (export: --format jsonl)`;

type Log = Store['audit'];
/** Returns false if something is wrong with an audit. */
type Work = (log: Log) => Promise<boolean>;

async function run(args: readonly string[]): Promise<void> {
  const work = parseCommand(readArguments(args, OPTIONS, { allowPositionals: true }));
  await withStore(parseStoreConfig(process.env), async ({ audit }) => {
    if (!(await work(audit))) process.exitCode = 1;
  });
}

const OPTIONS = {
  format: { type: 'string' },
  workspace: { type: 'string', multiple: true, default: [] as string[] },
  since: { type: 'string' },
  until: { type: 'string' },
  actor: { type: 'string' },
  server: { type: 'string' },
  head: { type: 'string' },
  json: { type: 'boolean', default: false },
} as const;

type Arguments = ReturnType<typeof readArguments<typeof OPTIONS, true>>;

/** Parses all arguments before anything is opened. @throws UsageError */
function parseCommand({ values, positionals }: Arguments): Work {
  const [command = 'export', ...rest] = positionals;
  if (rest.length > 0) throw new UsageError(`Unexpected argument: ${rest.join(' ')}`);
  const workspaceIds = values.workspace.map((id) => parseWorkspaceId(id));
  switch (command) {
    case 'verify': {
      const head = parseHead(values);
      return (log) => verify(log, workspaceIds, head, values.json);
    }
    case 'export': {
      const format = parseFormat(values.format ?? (values.json ? 'jsonl' : undefined));
      const filter = parseFilter(values);
      return (log) => exportEntries(log, workspaceIds, format, filter);
    }
    default:
      throw wrongCommand(command, ['export', 'verify']);
  }
}

function parseHead({ head, workspace }: Arguments['values']): AuditHead | undefined {
  if (head === undefined) return undefined;
  if (workspace.length !== 1) throw new UsageError('Use --head with exactly one --workspace.');
  const parsed = parseAuditHead(head);
  if (!parsed)
    throw new UsageError(
      '--head needs the number and the signature of an "audit head" line in the log, such as 12:v1.k1.abc.',
    );
  return parsed;
}

function parseFormat(name: string | undefined): AuditFormat {
  const known = Object.keys(AUDIT_FORMATS).join(' or ');
  if (name === undefined) throw new UsageError(`Add --format ${known}.`);
  const format = Object.hasOwn(AUDIT_FORMATS, name) ? AUDIT_FORMATS[name] : undefined;
  if (!format) throw new UsageError(`There's no format "${name}". Choose ${known}.`);
  return format;
}

function parseFilter({ since, until, actor, server }: Arguments['values']) {
  const lastDay = parseDay('--until', until);
  return {
    since: parseDay('--since', since),
    until: lastDay === undefined ? undefined : lastDay + DAY_MS,
    actorId: actor,
    server,
  };
}

function parseDay(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const at = findDay(text);
  if (at === undefined) throw new UsageError(`${option} needs a day such as 2026-01-31, not "${text}".`);
  return at;
}

type Filter = ReturnType<typeof parseFilter>;

async function exportEntries(
  log: Log,
  named: readonly WorkspaceId[],
  format: AuditFormat,
  filter: Filter,
): Promise<boolean> {
  const lines = exportLines(log, await listWanted(log, named), format, filter);
  try {
    await pipeline(Readable.from(lines), process.stdout, { end: false });
  } catch (error) {
    // The reader of the output may close the pipe (`| head`).
    if (!(error instanceof Error && 'code' in error && error.code === 'EPIPE')) throw error;
  }
  return true;
}

async function* exportLines(
  log: Log,
  workspaceIds: readonly WorkspaceId[],
  format: AuditFormat,
  filter: Filter,
): AsyncGenerator<string> {
  if (format.head !== '') yield format.head;
  for (const workspaceId of workspaceIds) {
    for await (const entry of log.read({ ...filter, workspaceId })) yield format.write(entry);
  }
}

/** False if an audit is altered, doesn't continue from the `published` head, or has no entries. */
async function verify(
  log: Log,
  named: readonly WorkspaceId[],
  published: AuditHead | undefined,
  isJson: boolean,
): Promise<boolean> {
  const workspaceIds = await listWanted(log, named);
  if (workspaceIds.length === 0 && !isJson) print('The audit log has no entries yet.');
  const verdicts = [];
  for (const workspaceId of workspaceIds) {
    const { words, isWhole } = describeVerdict(await log.verify(workspaceId, published));
    if (!isJson) print(`${workspaceId}: ${words}`);
    verdicts.push({ workspaceId, isWhole, words });
  }
  if (isJson) print(JSON.stringify(verdicts));
  return verdicts.every(({ isWhole }) => isWhole);
}

function describeVerdict(verdict: AuditVerdict): { readonly isWhole: boolean; readonly words: string } {
  if (!verdict.ok) return { isWhole: false, words: verdict.words };
  const { entries, from, to, pruned } = verdict;
  // Pruning leaves entries of its own, so a workspace that was ever audited has some.
  if (entries === 0) return { isWhole: false, words: 'there are no entries, and none were ever recorded.' };
  const older = pruned
    ? ` ${pruned.count} older ${pruned.count === 1 ? 'entry was' : 'entries were'} pruned, most recently on ${new Date(pruned.at).toISOString().slice(0, 10)}.`
    : '';
  return {
    isWhole: true,
    words: `${entries} ${entries === 1 ? 'entry' : 'entries'} verified (${from} to ${to}), none altered.${older}`,
  };
}

async function listWanted(log: Log, named: readonly WorkspaceId[]): Promise<readonly WorkspaceId[]> {
  return named.length > 0 ? named : log.listWorkspaces();
}

interface AuditFormat {
  readonly head: string;
  write(entry: StoredEntry): string;
}

/** The columns of CSV and the keys of JSON Lines; details are in `label`, in one line. Times are UTC; money is decimal, without a currency. */
const FIELDS: Readonly<
  Record<Exclude<keyof StoredEntry, 'details'>, (entry: StoredEntry) => string | number | undefined>
> = {
  workspaceId: (entry) => entry.workspaceId,
  seq: (entry) => entry.seq,
  id: (entry) => entry.id,
  at: (entry) => new Date(entry.at).toISOString(),
  actorId: (entry) => entry.actorId,
  channelId: (entry) => entry.channelId,
  surface: (entry) => entry.surface,
  action: (entry) => entry.action,
  actId: (entry) => entry.actId,
  serverId: (entry) => entry.serverId,
  label: (entry) => entry.label,
  outcome: (entry) => entry.outcome,
  code: (entry) => entry.code,
  operationId: (entry) => entry.operationId,
  money: (entry) => (entry.money === undefined ? undefined : describeMoney(entry.money)),
  signature: (entry) => entry.signature,
};

export const AUDIT_FORMATS: Readonly<Record<string, AuditFormat>> = {
  csv: {
    head: toLine(Object.keys(FIELDS)),
    write: (entry) => toLine(Object.values(FIELDS).map((read) => read(entry))),
  },
  jsonl: {
    head: '',
    write: (entry) => {
      const fields = Object.entries(FIELDS).map(([name, read]) => [name, read(entry)]);
      return `${JSON.stringify(Object.fromEntries(fields))}\n`;
    },
  },
};

function toLine(cells: readonly (string | number | undefined)[]): string {
  return `${csvLine(cells)}\r\n`;
}

export const audit: Program = { usage: USAGE, run };
