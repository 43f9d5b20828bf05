import { z } from 'zod';
import {
  explainAccess,
  grantAccess,
  listAccess,
  revokeAccess,
  type WantedGrant,
} from '../../app/access/change-access.ts';
import { listGroups } from '../../app/access/list-groups.ts';
import type { Grantee } from '../../domain/access.ts';
import type { UserId } from '../../domain/ids.ts';
import { textMessage } from '../kit/blocks.ts';
import { defineCommand } from '../kit/command.ts';
import { defineForm, loadingView, noticeView } from '../kit/form.ts';
import type { SlackRequest } from '../transport/request.ts';
import { accessScreen, rolesMessage } from './access-screen.ts';
import { describeGrantee } from './access-words.ts';
import { accessPages, grantButton, revokeButton } from './buttons.ts';
import {
  GRANT_TITLE,
  grantedWords,
  grantForm,
  grantView,
  listGroupOptions,
  readGrantFields,
} from './grant-form.ts';
import { ACCESS_USAGE, parseAccess } from './parse-access.ts';
import { requestAccessActions, requestAccessForm, requestAccessModals } from './request-access.ts';

const form = defineForm({
  id: 'grant',
  title: GRANT_TITLE,
  input: z.object({}),
  needs: grantAccess,
  load: async (_input, request, origin) => {
    return grantView(await request.execute(listGroups, {}), origin);
  },
});

export const access = defineCommand({
  name: 'access',
  usage: ACCESS_USAGE,
  summary: 'Shows and changes who has which role; anybody may ask for one',
  needs: 'owner',
  options: ['on', 'for'],
  parse: parseAccess,
  run: async (command, request) => {
    if (command.act === 'ask') return requestAccessForm.open(command.wanted, request);
    if (command.act === 'list') return showScreen(0, request);
    if (command.act === 'explain') return explain(command.userId, request);
    if (command.act === 'grant') return grant(command.wanted, request);
    return revoke(command.grantee, request);
  },
  actions: [
    ...requestAccessActions,
    form.handler,
    grantButton.on((_input, request) => form.open({}, request)),
    accessPages.back.on(turnPage),
    accessPages.further.on(turnPage),
    revokeButton.on(async ({ grantId, page }, request) => {
      await request.execute(revokeAccess, { grantId });
      await turnPage({ page }, request);
    }),
  ],
  modals: [
    ...requestAccessModals,
    grantForm.onSubmit(grantAccess, async ({ fields, viewId }, request) => {
      const wanted = readGrantFields(fields);
      if ('errors' in wanted) return { with: wanted };
      return {
        with: loadingView(GRANT_TITLE),
        after: async () => {
          const words = grantedWords(await request.execute(grantAccess, wanted));
          await request.views.update(viewId, noticeView(GRANT_TITLE, words));
        },
      };
    }),
  ],
  suggestions: [
    {
      id: `${grantForm.id}.group`,
      find: async (typed, request) => {
        const groups = await request.execute(listGroups, {});
        return listGroupOptions(groups ?? [], typed).slice(0, 100);
      },
    },
  ],
});

async function showScreen(page: number, request: SlackRequest): Promise<void> {
  await request.reply.send(accessScreen(await request.execute(listAccess, {}), page));
}

async function turnPage({ page }: { page: number }, request: SlackRequest): Promise<void> {
  await request.reply.replace(accessScreen(await request.execute(listAccess, {}), page));
}

async function explain(userId: UserId, request: SlackRequest): Promise<void> {
  await request.reply.send(rolesMessage(userId, await request.execute(explainAccess, { userId })));
}

async function grant(wanted: WantedGrant, request: SlackRequest): Promise<void> {
  await request.reply.send(textMessage(grantedWords(await request.execute(grantAccess, wanted))));
}

async function revoke(grantee: Grantee, request: SlackRequest): Promise<void> {
  const removed = await request.execute(revokeAccess, grantee);
  const who = describeGrantee(grantee);
  const done = removed.length > 0 ? `${who} has no role by grant any more.` : `${who} had no role by grant.`;
  const rest =
    grantee.subjectKind === 'user'
      ? ` A role through a group, a channel, \`OWNERS\` or Slack’s own admins stays: \`/vps access\` with their name shows it.`
      : '';
  await request.reply.send(textMessage(`${done}${rest}`));
}
