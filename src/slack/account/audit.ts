import { readAudit } from '../../app/account/read-audit.ts';
import { omitUndefined } from '../../domain/omit-undefined.ts';
import { DAY_MS, findDay, HOUR_MS, WEEK_MS } from '../../domain/time.ts';
import type { Message } from '../kit/blocks.ts';
import { defineCommand } from '../kit/command.ts';
import { findUserId, type TypedWords } from '../kit/typed-words.ts';
import type { SlackRequest } from '../transport/request.ts';
import { type AuditQuery, auditMessage, ENTRIES_PER_PAGE } from './audit-page.ts';
import { auditPageButton } from './buttons.ts';

export const audit = defineCommand({
  name: 'audit',
  usage: 'audit [server] [@user] [since 7d|2026-01-31]',
  summary: 'Shows who did what, with what outcome, denied tries included',
  needs: 'owner',
  options: ['since'],
  parse: parseQuery,
  run: async ({ since, ...filter }, request) => {
    const now = request.now();
    const from = since && ('at' in since ? since.at : now - since.agoMs);
    await request.reply.send(
      await auditPage({ ...filter, ...omitUndefined({ since: from }) }, undefined, request),
    );
  },
  actions: [
    auditPageButton.on(async ({ before, ...filter }, request) => {
      await request.reply.replace(await auditPage(filter, before, request));
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
    return 'After “since” comes a day of UTC, such as 2026-01-31, or a time, such as 24h, 7d or 4w.';
  }
  const actorId = rest.map(findUserId).find((id) => id !== undefined);
  const server = rest.filter((word) => findUserId(word) === undefined).join(' ');
  return omitUndefined({ server: server === '' ? undefined : server, actorId, since });
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
    ...query,
    ...omitUndefined({ before }),
    limit: ENTRIES_PER_PAGE + 1,
  });
  return auditMessage(entries, query, before, request.currency);
}
