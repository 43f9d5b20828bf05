import type { Button, ConfirmationDialog } from '@slack/types';
import { z } from 'zod';
import { type NamedServer, type PowerAction, perPowerAction } from '../core/server.ts';
import { confirmation } from '../slack/kit/blocks.ts';
import { defineButton, defineChoice } from '../slack/kit/button.ts';
import { plainLabel } from '../slack/kit/text.ts';
import { VERBS } from '../words.ts';

/** A server by ID. `on: 'card'`: the button stands on the server's card, which the press updates. */
export const pressedServer = z.object({ id: z.number().int(), on: z.literal('card').exactOptional() });

/** A server by ID, or by what was typed where no lookup succeeded. `sure`: the user has confirmed this server and action. */
const powered = z.union([
  pressedServer.extend({ sure: z.literal(true).exactOptional() }),
  z.object({ typed: z.string() }),
]);

export const powerButton = perPowerAction((action) => defineButton(action, powered));

/**
 * Asks before a press or choice that stops or reboots servers, which is easy to touch by accident; undefined for other commands.
 * Without servers, it asks about "this server".
 */
export function confirmPower(
  verb: string,
  servers: readonly { readonly label: string }[] = [],
): ConfirmationDialog | undefined {
  if (verb !== 'stop' && verb !== 'reboot') return undefined;
  const { title } = VERBS[verb];
  const [only, ...others] = servers;
  const areSeveral = others.length > 0;
  const name = only ? plainLabel(only.label, 40) : 'this server';
  const text = {
    stop: `${areSeveral ? 'They go' : 'It goes'} offline immediately. Paid time isn’t refunded.`,
    reboot: `${areSeveral ? 'They' : 'It'} will be offline for a moment.`,
  }[verb];
  return confirmation({
    title: `${title} ${areSeveral ? `${servers.length} servers` : name}?`,
    text,
    confirm: title,
    isDangerous: true,
  });
}

/** A button beside a server's name. `isSure`: without the question, since the card that it stands on is one. */
export function powerElement(
  action: PowerAction,
  server: NamedServer,
  { on, isSure }: { readonly on?: 'card'; readonly isSure?: boolean } = {},
): Button {
  const { title } = VERBS[action];
  const label = `${title} ${plainLabel(server.label, 40)}`;
  const confirm = isSure ? undefined : confirmPower(action, [server]);
  return powerButton[action].element(title, { id: server.id, on }, { label, confirm });
}

/** A list that the user has read, as pairs of ID and label; never the pattern that matched. `at`: when it was made, epoch ms. */
const several = z.object({
  id: z.string().min(1),
  at: z.number(),
  servers: z.array(z.tuple([z.number().int(), z.string()])).max(20),
});

/** Start, stop and reboot a confirmed list of at most 20 servers. */
export const severalButton = perPowerAction((action) => defineButton(`${action}_several`, several));

export const deleteButton = defineButton('delete', pressedServer);
/** Shows a server's card; on the card, reloads it. */
export const showButton = defineButton('show', pressedServer);
export const noteButton = defineButton('note', pressedServer);
export const protectButton = defineButton('protect', pressedServer);
export const unprotectButton = defineButton('unprotect', pressedServer);

/** Opens the list from the control panel. */
export const listButton = defineButton('list', z.object({}));

/** Picks the server whose card is shown. */
export const manageChoice = defineChoice('manage');
