import { z } from 'zod';
import { readAudit } from '../../app/account/read-audit.ts';
import { DAY_MS, findDay, HOUR_MS, WEEK_MS } from '../../domain/time.ts';
import type { Message } from '../kit/blocks.ts';
import { defineCommand } from '../kit/command.ts';
import { defineForm, noticeView } from '../kit/form.ts';
import { findUserId, type TypedWords } from '../kit/typed-words.ts';
import type { SlackRequest } from '../transport/request.ts';
import { auditDetailsView, DETAILS_TITLE } from './audit-details.ts';
import { auditFilterForm, auditFilterView, FILTER_TITLE, readFilterFields } from './audit-filter.ts';
import { auditMessage, ENTRIES_PER_PAGE } from './audit-page.ts';
import { type AuditQuery, auditQuery, toWish } from './audit-query.ts';
import { auditEntryButton, auditFilterButton, auditNewestButton, auditPageButton } from './buttons.ts';

const details = defineForm({
  id: 'audit_entry',
  title: DETAILS_TITLE,
  input: z.object({ id: z.string() }),
  needs: readAudit,
  load: async ({ id }, request) => {
    const [entry] = await request.execute(readAudit, { id, limit: 1 });
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

const UNIT_MS: Readonly<Record<string, number>> = { h: HOUR_MS, d: DAY_MS, w: WEEK_MS };

function findSince(typed: string): Since | undefined {
  const [, amount, unit = ''] = /^(\d{1,4})([hdw])$/i.exec(typed) ?? [];
  const unitMs = UNIT_MS[unit.toLowerCase()];
  if (unitMs !== undefined) return { agoMs: Number(amount) * unitMs };
  const at = findDay(typed);
  return at === undefined ? undefined : { at };
}

async function auditPage(
  query: AuditQuery,
  before: string | undefined,
  request: SlackRequest,
): Promise<Message> {
  const entries = await request.execute(readAudit, {
    ...toWish(query),
    before,
    limit: ENTRIES_PER_PAGE + 1,
  });
  return auditMessage(entries, query, before, request.currency);
}
