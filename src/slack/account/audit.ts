import { readAudit } from '../../app/account/read-audit.ts';
import { DAY_MS, findDay, HOUR_MS, WEEK_MS } from '../../domain/time.ts';
import type { Message } from '../kit/blocks.ts';
import { defineCommand } from '../kit/command.ts';
import { findUserId, type TypedWords } from '../kit/typed-words.ts';
import type { SlackRequest } from '../transport/request.ts';
import { type AuditQuestion, auditMessage, ENTRIES_PER_PAGE } from './audit-page.ts';
import { auditPageButton } from './buttons.ts';

export const audit = defineCommand({
  name: 'audit',
  usage: 'audit [server] [@user] [since 7d|2026-01-31]',
  summary: 'Shows who did what, with what outcome, denied tries included',
  needs: 'owner',
  options: ['since'],
  parse: parseQuestion,
  run: async ({ since, ...filter }, request) => {
    const now = request.now();
    const from = since === undefined ? {} : { since: 'at' in since ? since.at : now - since.agoMs };
    await request.reply.send(await auditPage({ ...filter, ...from }, undefined, request));
  },
  actions: [
    auditPageButton.on(async ({ before, ...filter }, request) => {
      await request.reply.replace(await auditPage(filter, before, request));
    }),
  ],
});

type Since = { readonly at: number } | { readonly agoMs: number };

function parseQuestion({
  words,
  options,
}: TypedWords): (Omit<AuditQuestion, 'since'> & { since?: Since }) | string {
  const at = words.findIndex((word) => word.toLowerCase() === 'since');
  const sinceTyped = options.since ?? (at < 0 ? undefined : (words[at + 1] ?? ''));
  const rest = at < 0 ? words : [...words.slice(0, at), ...words.slice(at + 2)];
  const since = sinceTyped === undefined ? undefined : findSince(sinceTyped);
  if (sinceTyped !== undefined && !since) {
    return 'After “since” comes a day of UTC, such as 2026-01-31, or a time, such as 24h, 7d or 4w.';
  }
  const actorId = rest.map(findUserId).find((id) => id !== undefined);
  const server = rest.filter((word) => findUserId(word) === undefined).join(' ');
  return {
    ...(server === '' ? {} : { server }),
    ...(actorId === undefined ? {} : { actorId }),
    ...(since ? { since } : {}),
  };
}

const UNIT_MS = { h: HOUR_MS, d: DAY_MS, w: WEEK_MS } as const;

function findSince(typed: string): Since | undefined {
  const time = /^(\d{1,4})([hdw])$/i.exec(typed);
  if (time) {
    const unit = (time[2] ?? 'd').toLowerCase() as keyof typeof UNIT_MS;
    return { agoMs: Number(time[1]) * UNIT_MS[unit] };
  }
  const at = findDay(typed);
  return at === undefined ? undefined : { at };
}

async function auditPage(
  question: AuditQuestion,
  before: string | undefined,
  request: SlackRequest,
): Promise<Message> {
  const entries = await request.execute(readAudit, {
    ...question,
    ...(before === undefined ? {} : { before }),
    limit: ENTRIES_PER_PAGE + 1,
  });
  return auditMessage(entries, question, before, request.currency);
}
