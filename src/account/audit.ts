import type { ModalView } from '@slack/types';
import { z } from 'zod';
import type { AppContext } from '../context.ts';
import {
  ACTION_GROUPS,
  AUDIT_ACTIONS,
  type AuditEntry,
  isAuditAction,
  type StoredEntry,
} from '../core/audit-entry.ts';
import { defineUseCase } from '../core/entry.ts';
import { describeMoney } from '../core/money.ts';
import { DAY_MS, findDay, findDuration, HOUR_MS } from '../core/time.ts';
import type { AuditFilter, AuditHead } from '../db/audit-log.ts';
import { actions, context, facts, type Message, option, plain, section } from '../slack/kit/blocks.ts';
import { defineButton } from '../slack/kit/button.ts';
import { defineCommand, findUserId, type TypedWords } from '../slack/kit/command.ts';
import { defineForm, noticeView, type Origin } from '../slack/kit/form.ts';
import { defineModal } from '../slack/kit/modal.ts';
import { capital, codeLabel, escapeText, mention, slackDate, utcDate } from '../slack/kit/text.ts';
import type { SlackRequest } from '../slack/request.ts';
import {
  describeAct,
  describeActor,
  describeChanges,
  describeCode,
  describePlace,
} from './audit-sentence.ts';

type ActionGroup = keyof typeof ACTION_GROUPS;

const groups = Object.keys(ACTION_GROUPS) as [ActionGroup, ...ActionGroup[]];

const OUTCOME_FILTERS = {
  done: 'Succeeded',
  failed: 'Failed',
  denied: 'Denied',
  in_doubt: 'Unconfirmed',
} as const satisfies Partial<Readonly<Record<AuditEntry['outcome'], string>>>;
type OutcomeFilter = keyof typeof OUTCOME_FILTERS;
const outcomes = Object.keys(OUTCOME_FILTERS) as [OutcomeFilter, ...OutcomeFilter[]];

/** A filter of the audit, as buttons and the form carry it. */
const auditQuery = z.object({
  server: z.string().exactOptional(),
  actorId: z.string().exactOptional(),
  group: z.enum(groups).exactOptional(),
  outcome: z.enum(outcomes).exactOptional(),
  /** Epoch milliseconds. */
  since: z.number().exactOptional(),
});
type AuditQuery = z.output<typeof auditQuery>;

function toFilter({ group, ...query }: AuditQuery): Omit<AuditFilter, 'workspaceId' | 'limit'> {
  const all = Object.keys(AUDIT_ACTIONS).filter(isAuditAction);
  return { ...query, actions: group && all.filter((action) => AUDIT_ACTIONS[action].group === group) };
}

/** Describes a query: "by @mara, denied, since 2026-01-31 00:00 UTC". Empty without filters. */
function describeQuery({ server, actorId, group, outcome, since }: AuditQuery): string {
  const parts = [
    server === undefined ? '' : codeLabel(server),
    actorId === undefined ? '' : `by ${mention(actorId)}`,
    group === undefined ? '' : ACTION_GROUPS[group].toLowerCase(),
    outcome === undefined ? '' : OUTCOME_FILTERS[outcome].toLowerCase(),
    since === undefined ? '' : `since ${utcDate(since)}`,
  ];
  return parts.filter((part) => part !== '').join(', ');
}

/** Entries before the one with this ID. */
const auditPageButton = defineButton('audit_page', auditQuery.extend({ before: z.number() }));
const auditNewestButton = defineButton('audit_newest', auditQuery);
const auditEntryButton = defineButton('audit_details', z.object({ seq: z.number() }));
const auditFilterButton = defineButton('audit_filter', auditQuery);

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
  ...OUTCOME_FILTERS,
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

const FILTER_TITLE = 'Filter the audit log';

const SPANS = { 1: 'Last 24 hours', 7: 'Last 7 days', 30: 'Last 30 days', 365: 'Last year' } as const;
/** The value of the option for the time that was typed with the command. */
const TYPED = 'typed';

const auditFilterForm = defineModal(
  'audit_filter',
  auditQuery,
  z.object({
    person: z.string().exactOptional(),
    group: auditQuery.shape.group,
    outcome: auditQuery.shape.outcome,
    time: z.string().exactOptional(),
    server: z.string().exactOptional(),
  }),
);

type Fields = Parameters<Parameters<typeof auditFilterForm.onSubmit>[1]>[0]['fields'];

/** Renders the form that filters the audit, with the current filters. Every field is optional. */
export function auditFilterView(query: AuditQuery, origin: Origin): ModalView {
  const { since } = query;
  const typed = since === undefined ? [] : [option(`Since ${utcDate(since)}`, TYPED)];
  return auditFilterForm.view({
    origin,
    metadata: query,
    title: FILTER_TITLE,
    submit: 'Show',
    blocks: [
      auditFilterForm.userField('person', {
        label: 'Person',
        placeholder: 'Anyone',
        initial: query.actorId,
        optional: true,
      }),
      menu('group', 'Action', 'Any action', ACTION_GROUPS, query.group),
      menu('outcome', 'Outcome', 'Any outcome', OUTCOME_FILTERS, query.outcome),
      auditFilterForm.selectField('time', {
        label: 'Time',
        placeholder: 'Any time',
        options: [...typed, ...Object.entries(SPANS).map(([days, words]) => option(words, days))],
        initial: since === undefined ? undefined : TYPED,
        optional: true,
      }),
      auditFilterForm.textField('server', {
        label: 'Server',
        hint: 'A label or an ID.',
        initial: query.server,
        optional: true,
        maxLength: 300,
      }),
    ],
  });
}

function menu(
  name: 'group' | 'outcome',
  label: string,
  placeholder: string,
  choices: Readonly<Record<string, string>>,
  initial: string | undefined,
) {
  const options = Object.entries(choices).map(([value, words]) => option(words, value));
  return auditFilterForm.selectField(name, { label, placeholder, options, initial, optional: true });
}

function readFilterFields(fields: Fields, was: AuditQuery, now: number): AuditQuery {
  const { person, time, ...rest } = fields;
  const days = Number(time);
  const since = time === TYPED ? was.since : days > 0 ? now - days * DAY_MS : undefined;
  return { ...rest, actorId: person, since };
}

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
      section(title, auditFilterButton.element('Filter…', query)),
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

const filter = defineForm({
  id: 'audit_filter',
  title: FILTER_TITLE,
  input: auditQuery,
  needs: readAudit,
  load: async (query, _request, origin) => auditFilterView(query, origin),
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
    auditFilterButton.on((query, request) => filter.open(query, request)),
    details.handler,
    filter.handler,
  ],
  modals: [
    auditFilterForm.onSubmit(readAudit, async ({ fields, metadata }, request) => {
      const query = readFilterFields(fields, metadata, request.now());
      return {
        after: async () => {
          await request.reply.send(await auditPage(query, undefined, request));
        },
      };
    }),
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
  const entries = await request.execute(readAudit, {
    ...toFilter(query),
    before,
    limit: ENTRIES_PER_PAGE + 1,
  });
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
 * alone (docs/decisions/0006-the-audit-is-a-signed-chain.md). A process publishes all of them at its start, so also what a killed one
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
