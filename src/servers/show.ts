import type { ServerId } from '../core/ids.ts';
import { defineCommand, parseServerName } from '../slack/kit/command.ts';
import { sendWaiting } from '../slack/kit/notify.ts';
import { codeLabel } from '../slack/kit/text.ts';
import type { SlackRequest } from '../slack/request.ts';
import { protectButton, showButton, unprotectButton } from './buttons.ts';
import { serverCard, showServer } from './card.ts';
import { chooseSuggestions, offerServers, pickChoice } from './pick.ts';
import { checkState } from './power.ts';
import { protectServer, unprotectServer } from './protect.ts';
import { findSuggestions, shortcutActions } from './shortcuts.ts';

/** The protection buttons of a server's card. */
const protectActions = [
  protectButton.on(async ({ id }, request) => {
    const { label } = await request.execute(protectServer, { ref: { id } });
    await showProtection(id, `protected ${codeLabel(label)}`, request);
  }),
  unprotectButton.on(async ({ id }, request) => {
    const { label } = await request.execute(unprotectServer, { ref: { id } });
    await showProtection(id, `lifted the protection of ${codeLabel(label)}`, request);
  }),
];

async function showProtection(id: ServerId, words: string, request: SlackRequest): Promise<void> {
  const card = await request.execute(showServer, { ref: { id } });
  await request.reply.replace(serverCard(card, request.now()));
  await request.announce(words);
}

export const show = defineCommand({
  name: 'show',
  usage: 'show [server]',
  summary: 'Show a server with its buttons',
  needs: 'viewer',
  parse: parseServerName,
  run: (input, request) =>
    offerServers('show', input, request, async (ref) => {
      const card = await request.execute(showServer, { ref, onWait: sendWaiting(request) });
      await request.reply.send(serverCard(card, request.now()));
    }),
  actions: [
    showButton.on(({ id, on }, request) => (on ? reloadCard(id, request) : showById(id, request))),
    pickChoice.show.on((id, request) => showById(Number(id), request)),
    checkState,
    ...protectActions,
    ...shortcutActions,
  ],
  suggestions: [chooseSuggestions('show'), findSuggestions],
});

/** Answers a button or a menu with the server's card. */
export async function showById(id: ServerId, request: SlackRequest): Promise<void> {
  const card = await request.execute(showServer, { ref: { id } });
  await request.reply.send(serverCard(card, request.now()));
}

/** Replaces the pressed card with the server's current state. */
async function reloadCard(id: ServerId, request: SlackRequest): Promise<void> {
  const card = await request.execute(showServer, { ref: { id }, isFresh: true });
  await request.reply.replace(serverCard(card, request.now()));
}
