import { protectServer, unprotectServer } from '../../app/servers/protect-server.ts';
import { showServer } from '../../app/servers/show-server.ts';
import type { ServerId } from '../../domain/ids.ts';
import { codeLabel } from '../kit/text.ts';
import type { SlackRequest } from '../transport/request.ts';
import { protectButton, unprotectButton } from './buttons.ts';
import { serverCard } from './server-card.ts';

/** Protects a server and lifts that, by the buttons of its card. */
export const protectActions = [
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
