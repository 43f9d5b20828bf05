import type { ModalView } from '@slack/types';
import { z } from 'zod';
import type { AppContext } from '../context.ts';
import type { AuditEntry, StoredEntry } from '../core/audit-entry.ts';
import { defineUseCase } from '../core/entry.ts';
import { describeMoney } from '../core/money.ts';
import { findDay, findDuration, HOUR_MS } from '../core/time.ts';
import type { AuditFilter, AuditHead } from '../db/audit-log.ts';
import { actions, context, facts, type Message, plain, section } from '../slack/kit/blocks.ts';
import { defineButton } from '../slack/kit/button.ts';
import { defineCommand, findUserId, type TypedWords } from '../slack/kit/command.ts';
import { defineForm, noticeView } from '../slack/kit/form.ts';
import { capital, codeLabel, escapeText, mention, slackDate, utcDate } from '../slack/kit/text.ts';
import type { SlackRequest } from '../slack/request.ts';
import {
  describeAct,
  describeActor,
  describeChanges,
  describeCode,
  describePlace,
} from './audit-sentence.ts';

/** A filter of the audit, as buttons carry it. */
const auditQuery = z.object({
  server: z.string().exactOptional(),
  actorId: z.string().exactOptional(),
  /** Epoch milliseconds. */
  since: z.number().exactOptional(),
});
type AuditQuery = z.output<typeof auditQuery>;

/** Describes a query: "`web-1`, by @mara, since 2026-01-31 00:00 UTC". Empty without filters. */
function describeQuery({ server, actorId, since }: AuditQuery): string {
  const parts = [
    server === undefined ? '' : codeLabel(server),
    actorId === undefined ? '' : `by ${mention(actorId)}`,
    since === undefined ? '' : `since ${utcDate(since)}`,
  ];
  return parts.filter((part) => part !== '').join(', ');
}

/** Entries before the one with this ID. */
const auditPageButton = defineButton('audit_page', auditQuery.extend({ before: z.number() }));
const auditNewestButton = defineButton('audit_newest', auditQuery);
const auditEntryButton = defineButton('audit_details', z.object({ seq: z.number() }));

/**
 * Lists entries, denied attempts included, or reads the one with `id`. Lists a `started` entry only while its act has no
 * outcome.
 */
const readAudit = defineUseCase({
  name: 'audit',
  needs: 'owner',
  effect: 'reads',
  run: async (input: Omit<AuditFilter, 'workspaceId'>, { actor, app }): Promise<readonly StoredEntry[]> =>
    app.audit.list({ ...input, workspaceId: actor.workspaceId, isBrief: input.seq === undefined }),
});

const DETAILS_TITLE = 'Audit entry';

/** Renders one entry in full, in words and as stored. */
export function auditDetailsView(entry: StoredEntry, currency: string): ModalView {
  return {
    type: 'modal',
    title: plain(DETAILS_TITLE),
    close: plain('Close'),
    blocks: [
      section(`${describeAct(entry, currency)}.${describeChanges(entry)}`),
      facts(listFacts(entry, currency)),
      ...(entry.label ? [section(`*Recorded as*\n${codeLabel(entry.label, 2500)}`)] : []),
      context(describeIds(entry)),
    ],
  };
}

function listFacts(entry: StoredEntry, currency: string): readonly (readonly [string, string])[] {
  const { at, actorId, surface, serverId, money, outcome, code } = entry;
  const why = code === undefined ? '' : `: ${escapeText(describeCode(code))}`;
  return [
    ['When', `${slackDate(at)}\n${utcDate(at)}`],
    ['Who', `${describeActor(actorId)}\n${codeLabel(actorId)}`],
    ...whereOf(entry),
    ['How', SURFACES[surface]],
    ['Outcome', `${OUTCOMES[outcome]}${why}`],
    ...(serverId === undefined ? [] : [['Server', `ID ${codeLabel(String(serverId))}`] as const]),
    ...(money === undefined ? [] : [['Amount', escapeText(describeMoney(money, currency))] as const]),
  ];
}

/** A direct message has no name to show, so that only the kind of place is shown. */
function whereOf(entry: StoredEntry): readonly (readonly [string, string])[] {
  const { channelId } = entry;
  if (channelId !== undefined && !channelId.startsWith('D'))
    return [['Where', `<#${channelId}>\n${codeLabel(channelId)}`]];
  const place = describePlace(entry);
  return place === undefined ? [] : [['Where', capital(place)]];
}

function describeIds({ seq, id, action, code, actId, operationId }: StoredEntry): string {
  const parts = [
    `Entry ${seq}`,
    codeLabel(id),
    `action ${codeLabel(action)}`,
    code === undefined ? '' : `code ${codeLabel(code)}`,
    `act ${codeLabel(actId)}`,
    operationId === undefined ? '' : `order ${codeLabel(operationId)}`,
  ];
  return parts.filter((part) => part !== '').join(' · ');
}

const OUTCOMES: Readonly<Record<AuditEntry['outcome'], string>> = {
  started: 'Not recorded yet',
  done: 'Succeeded',
  failed: 'Failed',
  denied: 'Denied',
  in_doubt: 'Unconfirmed',
};

const SURFACES: Readonly<Record<AuditEntry['surface'], string>> = {
  command: 'Slash command',
  button: 'Button',
  modal: 'Form',
  shortcut: 'Shortcut',
  mention: 'Mention',
  direct_message: 'Direct message',
  home: 'Home',
  page: 'Connect page',
  background: 'Automatically, in the background',
  workflow: 'Workflow step',
  cli: 'Command line',
};

const ENTRIES_PER_PAGE = 10;

/** Renders one page of the audit, newest first. Pass one entry more than a page holds if there are older ones. */
export function auditMessage(
  entries: readonly StoredEntry[],
  query: AuditQuery,
  before: number | undefined,
  currency: string,
): Message {
  const shown = entries.slice(0, ENTRIES_PER_PAGE);
  const last = shown.at(-1);
  const filters = describeQuery(query);
  const title = `*Audit log*${filters === '' ? '' : ` · ${filters}`}`;
  const buttons = [
    ...(before === undefined ? [] : [auditNewestButton.element('Newest', query)]),
    ...(last && entries.length > shown.length
      ? [auditPageButton.element('Older', { ...query, before: last.seq })]
      : []),
  ];
  return {
    text: shown.length === 0 ? NOTHING : 'Audit log',
    blocks: [
      section(title),
      ...(shown.length === 0 ? [section(NOTHING)] : shown.map((entry) => describeEntry(entry, currency))),
      ...(buttons.length === 0 ? [] : [actions(...buttons)]),
    ],
  };
}

const NOTHING = 'No matching entries.';

/** "today 11:09 @olga viewed the root password of `web-1` in #ops", with the rest behind a button. */
function describeEntry(entry: StoredEntry, currency: string) {
  const label = `Details of entry ${entry.seq}`;
  const details = auditEntryButton.element('Details', { seq: entry.seq }, { label });
  return section(`${slackDate(entry.at)} ${describeAct(entry, currency)}${describeChanges(entry)}`, details);
}

const details = defineForm({
  id: 'audit_entry',
  title: DETAILS_TITLE,
  input: z.object({ seq: z.number() }),
  needs: readAudit,
  load: async ({ seq }, request) => {
    const [entry] = await request.execute(readAudit, { seq, limit: 1 });
    return entry
      ? auditDetailsView(entry, request.currency)
      : noticeView(
          DETAILS_TITLE,
          'This entry is no longer in the audit log. It may have been removed as too old.',
        );
  },
});

export const audit = defineCommand({
  name: 'audit',
  usage: 'audit [server] [@user] [since 7d|2026-01-31]',
  example: 'audit web-1 since 7d',
  summary: 'Show the audit log',
  needs: 'owner',
  options: ['since'],
  parse: parseQuery,
  run: async ({ since, ...rest }, request) => {
    const from = since && ('at' in since ? since.at : request.now() - since.agoMs);
    await request.reply.send(await auditPage({ ...rest, since: from }, undefined, request));
  },
  actions: [
    auditPageButton.on(async ({ before, ...query }, request) => {
      await request.reply.replace(await auditPage(query, before, request));
    }),
    auditNewestButton.on(async (query, request) => {
      await request.reply.replace(await auditPage(query, undefined, request));
    }),
    auditEntryButton.on((input, request) => details.open(input, request)),
    details.handler,
  ],
});

type Since = { readonly at: number } | { readonly agoMs: number };

function parseQuery({
  words,
  options,
}: TypedWords): (Omit<AuditQuery, 'since'> & { since?: Since }) | string {
  const at = words.findIndex((word) => word.toLowerCase() === 'since');
  const sinceTyped = options.since ?? (at < 0 ? undefined : (words[at + 1] ?? ''));
  const rest = at < 0 ? words : [...words.slice(0, at), ...words.slice(at + 2)];
  const since = sinceTyped === undefined ? undefined : findSince(sinceTyped);
  if (sinceTyped !== undefined && !since) {
    return 'After “since”, give a date (UTC) such as 2026-01-31, or a duration such as 24h, 7d or 4w.';
  }
  const actorId = rest.map(findUserId).find((id) => id !== undefined);
  const server = rest.filter((word) => findUserId(word) === undefined).join(' ');
  return { server: server === '' ? undefined : server, actorId, since };
}

function findSince(typed: string): Since | undefined {
  const agoMs = findDuration(typed);
  if (agoMs !== undefined) return { agoMs };
  const at = findDay(typed);
  return at === undefined ? undefined : { at };
}

async function auditPage(
  query: AuditQuery,
  before: number | undefined,
  request: SlackRequest,
): Promise<Message> {
  const entries = await request.execute(readAudit, { ...query, before, limit: ENTRIES_PER_PAGE + 1 });
  return auditMessage(entries, query, before, request.currency);
}

/** Parses a published head, `<seq>:<signature>`. Undefined for anything else. */
export function parseAuditHead(text: string): AuditHead | undefined {
  const [, seq, signature] = /^([1-9]\d{0,14}):(v1\.[\w-]{1,32}\.[\w-]+)$/.exec(text.trim()) ?? [];
  return seq === undefined || signature === undefined ? undefined : { seq: Number(seq), signature };
}

export const PUBLISH_MS = HOUR_MS;

/**
 * Creates a function that logs the newest entry of each chain that has grown: evidence that can't be removed through the database
 * alone (docs/decisions/0006-the-audit-is-a-signed-chain.md). The first time, it logs all of them, including what a killed process
 * didn't.
 */
export function createAuditPublisher({ audit, log }: AppContext): () => Promise<void> {
  let published: ReadonlyMap<string, string> = new Map();
  return async () => {
    const heads = await audit.listHeads();
    for (const { workspaceId, seq, signature } of heads) {
      if (published.get(workspaceId) === signature) continue;
      log.info('audit head', { workspaceId, seq, signature });
    }
    published = new Map(heads.map(({ workspaceId, signature }) => [workspaceId, signature]));
  };
}
