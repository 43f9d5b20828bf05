import { parseArgs } from 'node:util';
import { parseAuditHead } from '../app/account/audit-head.ts';
import type { AuditHead } from '../app/account/ports.ts';
import { parseAuditConfig } from '../config.ts';
import { DAY_MS, findDay } from '../domain/time.ts';
import { realSystem } from '../system.ts';
import { AUDIT_FORMATS, type AuditFormat } from './audit-formats.ts';
import { exportEntries, prune, verify } from './audit-work.ts';
import { type ProgramApp, withApp } from './open-app.ts';
import { parseOrExplain, parseWorkspaceId, runProgram, UsageError } from './program.ts';

const USAGE = `Usage:
  npm run -s audit -- [export] --format csv|jsonl   writes the audit log to standard output, oldest first
      [--workspace T…] [--since 2026-01-01] [--until 2026-01-31] [--actor U…] [--server <label or ID>]
      Dates are whole UTC days, inclusive.
  npm run -s audit -- verify [--workspace T…]       finds altered, removed or moved entries
      [--head <number>:<signature>]  checks against an "audit head" line in the log; needs exactly one --workspace
  npm run -s audit -- prune --older-than-days 365   removes older entries; the rest stays verifiable
Repeat --workspace for several; default: all.`;

type Arguments = ReturnType<typeof readArguments>;
type Work = (app: ProgramApp) => Promise<boolean>;

/** Exports, verifies and prunes the audit without Slack. The app may be running at the same time. */
async function main(): Promise<void> {
  const work = parseCommand(readArguments());
  await withApp(parseAuditConfig(process.env), async (app) => {
    if (!(await work(app))) process.exitCode = 1;
  });
}

function readArguments() {
  return parseOrExplain(
    () =>
      parseArgs({
        options: {
          format: { type: 'string' },
          workspace: { type: 'string', multiple: true, default: [] },
          since: { type: 'string' },
          until: { type: 'string' },
          actor: { type: 'string' },
          server: { type: 'string' },
          head: { type: 'string' },
          'older-than-days': { type: 'string' },
        },
        allowPositionals: true,
      }),
    USAGE,
  );
}

/** Checks everything that was typed before anything is opened. @throws UsageError */
function parseCommand({ values, positionals }: Arguments): Work {
  const [command = 'export', ...rest] = positionals;
  if (rest.length > 0) throw new UsageError(`Unexpected argument: ${rest.join(' ')}`, USAGE);
  const workspaceIds = values.workspace.map((id) => parseWorkspaceId(id, USAGE));
  switch (command) {
    case 'verify': {
      const head = parseHead(values);
      return (app) => verify(app, workspaceIds, head);
    }
    case 'prune':
      return parsePrune(values);
    case 'export': {
      const format = parseFormat(values.format);
      const filter = parseFilter(values);
      return (app) => exportEntries(app, workspaceIds, format, filter);
    }
    default:
      throw new UsageError(`There's no command "${command}". Choose export, verify or prune.`, USAGE);
  }
}

function parseHead({ head, workspace }: Arguments['values']): AuditHead | undefined {
  if (head === undefined) return undefined;
  if (workspace.length !== 1) throw new UsageError('Use --head with exactly one --workspace.', USAGE);
  const parsed = parseAuditHead(head);
  if (!parsed)
    throw new UsageError(
      '--head needs the number and the signature of an "audit head" line in the log, such as 12:v1.k1.abc.',
      USAGE,
    );
  return parsed;
}

function parsePrune({ workspace, 'older-than-days': days }: Arguments['values']): Work {
  if (workspace.length > 0)
    throw new UsageError('prune works on every workspace. Leave out --workspace.', USAGE);
  if (days === undefined)
    throw new UsageError('Add --older-than-days, such as --older-than-days 365, to prune.', USAGE);
  if (!/^[1-9]\d{0,4}$/.test(days)) {
    throw new UsageError(`--older-than-days needs a number of days such as 365, not "${days}".`, USAGE);
  }
  return (app) => prune(app, realSystem.now() - Number(days) * DAY_MS);
}

function parseFormat(name: string | undefined): AuditFormat {
  const known = Object.keys(AUDIT_FORMATS).join(' or ');
  if (name === undefined) throw new UsageError(`Add --format ${known}.`, USAGE);
  const format = Object.hasOwn(AUDIT_FORMATS, name) ? AUDIT_FORMATS[name] : undefined;
  if (!format) throw new UsageError(`There's no format "${name}". Choose ${known}.`, USAGE);
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
  if (at === undefined)
    throw new UsageError(`${option} needs a day such as 2026-01-31, not "${text}".`, USAGE);
  return at;
}

runProgram(main);
