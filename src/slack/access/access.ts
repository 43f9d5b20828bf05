import { z } from 'zod';
import {
  explainAccess,
  grantAccess,
  listAccess,
  revokeAccess,
  type WantedGrant,
} from '../../app/access/change-access.ts';
import { listGroups } from '../../app/access/list-groups.ts';
import { withdrawAccessRequest } from '../../app/access/withdraw-access-request.ts';
import type { Grantee } from '../../domain/access.ts';
import type { UserId } from '../../domain/ids.ts';
import { textMessage } from '../kit/blocks.ts';
import { type Command, defineCommand, type Suggestions } from '../kit/command.ts';
import { defineForm, loadingView, noticeView } from '../kit/form.ts';
import type { SlackRequest } from '../transport/request.ts';
import { withdrawnMessage } from './access-request-card.ts';
import { accessScreen, rolesMessage } from './access-screen.ts';
import { describeGrantee } from './access-words.ts';
import { answerActions, answerModals } from './answer-forms.ts';
import { accessPages, grantButton, revokeButton } from './buttons.ts';
import { defineContinue, type RunTyped } from './continue.ts';
import {
  GRANT_TITLE,
  grantedWords,
  grantForm,
  grantView,
  listGroupOptions,
  readGrantFields,
} from './grant-form.ts';
import { ACCESS_USAGE, type AccessCommand, parseAccess } from './parse-access.ts';
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

/** The command, over what runs another command: a role that was granted is followed by what it was needed for. */
export function defineAccess(runTyped: RunTyped): Command {
  return defineCommand({
    name: 'access',
    usage: ACCESS_USAGE,
    summary: 'Show, grant and revoke roles; anyone can ask for one',
    needs: 'owner',
    options: ['on', 'for'],
    parse: parseAccess,
    run: runAccess,
    actions: [...requestAccessActions, ...answerActions, ...grantActions, defineContinue(runTyped)],
    modals: [...requestAccessModals, ...answerModals, grantModal],
    suggestions: [groupSuggestions],
  });
}

async function runAccess(command: AccessCommand, request: SlackRequest): Promise<void> {
  switch (command.act) {
    case 'list':
      return showScreen(0, request);
    case 'explain':
      return explain(command.userId, request);
    case 'grant':
      return grant(command.wanted, request);
    case 'revoke':
      return revoke(command.grantee, request);
    case 'ask':
      return requestAccessForm.open(command.wanted, request);
    case 'withdraw': {
      const withdrawn = await request.execute(withdrawAccessRequest, {});
      await request.reply.send(withdrawnMessage(withdrawn));
    }
  }
}

const grantActions = [
  form.handler,
  grantButton.on((_input, request) => form.open({}, request)),
  accessPages.back.on(turnPage),
  accessPages.further.on(turnPage),
  revokeButton.on(async ({ grantId, page }, request) => {
    await request.execute(revokeAccess, { grantId });
    await turnPage({ page }, request);
  }),
];

const grantModal = grantForm.onSubmit(grantAccess, async ({ fields, viewId }, request) => {
  const wanted = readGrantFields(fields);
  if ('errors' in wanted) return { with: wanted };
  return {
    with: loadingView(GRANT_TITLE, 'Granting the role…'),
    after: async () => {
      const words = grantedWords(await request.execute(grantAccess, wanted));
      await request.views.update(viewId, noticeView(GRANT_TITLE, words));
    },
  };
});

const groupSuggestions: Suggestions = {
  id: `${grantForm.id}.group`,
  find: async (typed, request) => {
    const groups = await request.execute(listGroups, {});
    return listGroupOptions(groups ?? [], typed).slice(0, 100);
  },
};

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
  await request.reply.send(textMessage(revokedWords(grantee, removed.length)));
}

/** What was revoked, and which roles a user may still have. */
export function revokedWords(grantee: Grantee, revoked: number): string {
  const who = describeGrantee(grantee);
  if (grantee.subjectKind !== 'user')
    return revoked > 0 ? `The role of ${who} was revoked.` : `${who} doesn’t have a role.`;
  const done = revoked > 0 ? `${who}’s own role was revoked.` : `${who} doesn’t have a role of their own.`;
  return `${done} Roles from groups, channels or admin rights remain; check with \`/vps access @user\`.`;
}
