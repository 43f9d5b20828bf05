import { readAudit } from '../../app/read-audit.ts';
import { auditPageButton } from '../buttons.ts';
import { defineCommand } from '../command.ts';
import type { Message } from '../kit/blocks.ts';
import { findUserId } from '../kit/typed-words.ts';
import { type AuditQuestion, auditMessage, ENTRIES_PER_PAGE } from '../messages/audit-page.ts';
import type { SlackRequest } from '../request.ts';

export const audit = defineCommand({
  name: 'audit',
  usage: 'audit [server] [@user]',
  summary: 'Shows who did what, with what outcome, denied tries included',
  needs: 'owner',
  parse: ({ words }): AuditQuestion => {
    const actorId = words.map(findUserId).find((id) => id !== undefined);
    const server = words.filter((word) => findUserId(word) === undefined).join(' ');
    return { ...(server === '' ? {} : { server }), ...(actorId === undefined ? {} : { actorId }) };
  },
  run: async (filter, request) => {
    await request.reply.tell(await auditPage(filter, undefined, request));
  },
  actions: [
    auditPageButton.on(async ({ before, ...filter }, request) => {
      await request.reply.replace(await auditPage(filter, before, request));
    }),
  ],
});

async function auditPage(
  question: AuditQuestion,
  before: string | undefined,
  request: SlackRequest,
): Promise<Message> {
  const entries = await request.enter(readAudit, {
    ...question,
    ...(before === undefined ? {} : { before }),
    limit: ENTRIES_PER_PAGE + 1,
  });
  return auditMessage(entries, question, before, request.bench.currency);
}
