import type { KnownBlock } from '@slack/types';
import { FOLLOW_MS, type FollowedAct, type FollowedServer, isPower } from '../../domain/followed-act.ts';
import type { PowerAction } from '../../domain/server.ts';
import { MINUTE_MS } from '../../domain/time.ts';
import { nameActor } from '../kit/actor-name.ts';
import { actions, context, type Message, textMessage } from '../kit/blocks.ts';
import { plainLabel } from '../kit/text.ts';
import { addressMessage } from '../purchases/order-news.ts';
import { checkButton, powerButton } from './buttons.ts';
import { confirmationOf } from './confirm-dialogs.ts';
import {
  actWords,
  type FollowWording,
  lateStep,
  serverLines,
  serverWords,
  severalActWords,
} from './follow-words.ts';

type Shown = Pick<FollowedAct, 'action' | 'actorId' | 'servers' | 'approvedBy'>;

/** The channel's message about a followed action, which replaces the one before. */
export function followedMessage(act: FollowedAct): Message {
  const wording = wordingOf(act);
  return actMessage(
    act,
    wording,
    ...nextBlocks(act, wording, { by: act.actorId, approvedBy: act.approvedBy }),
  );
}

/** The same words, with other buttons. */
export function actMessage(act: Shown, wording: FollowWording, ...more: KnownBlock[]): Message {
  const { actorId, action, servers, approvedBy } = act;
  const [only, ...others] = servers;
  const words =
    only && others.length === 0
      ? actWords(only, wording, approvedBy)
      : severalActWords(servers, action, 'is');
  const lines = others.length > 0 ? serverLines(servers, wording) : [];
  return textMessage(`${nameActor(actorId)} ${words}`, ...lines, ...more);
}

/** The message to the actor, if no channel has one. */
export function followedAnswer(act: FollowedAct): Message {
  const wording = wordingOf(act);
  const { action, servers } = act;
  const [only, ...others] = servers;
  const more = nextBlocks(act, wording, {});
  if (!only || others.length > 0)
    return textMessage(
      `You ${severalActWords(servers, action, 'are')}.`,
      ...serverLines(servers, wording),
      ...more,
    );
  if (action === 'create' && only.standing === 'there') return newServerMessage(only);
  return textMessage(serverWords(only, wording), ...more);
}

function newServerMessage({ serverId: id, label, state = '', ipv4 }: FollowedServer): Message {
  return addressMessage({ id, label, state, ipv4 });
}

function wordingOf(act: FollowedAct): FollowWording {
  const isLate = act.passedMs >= FOLLOW_MS;
  return {
    action: act.action,
    isMeasured: act.isMeasured,
    after: isLate ? `${Math.floor(FOLLOW_MS / MINUTE_MS)} min` : undefined,
  };
}

/** What to do about what has not settled. Power actions can be tried again; what costs money, never. */
function nextBlocks({ action, servers }: FollowedAct, { after }: FollowWording, whose: Whose): KnownBlock[] {
  const waiting = servers.filter(({ standing }) => standing === 'waiting');
  const [only] = waiting;
  if (after === undefined || !only) return [];
  const isAlone = servers.length === 1;
  const again = isAlone && isPower(action) ? [againElement(action, only)] : [];
  return [context(lateStep(action, isAlone)), actions(checkElement(action, waiting, whose), ...again)];
}

/** Whose action a channel's message is about, and who approved it; `by` is absent in a message only to the actor. */
interface Whose {
  readonly by?: string | undefined;
  readonly approvedBy?: string | undefined;
}

export function checkElement(
  action: FollowedAct['action'],
  servers: readonly Pick<FollowedServer, 'serverId' | 'label' | 'paidUntil'>[],
  { by, approvedBy, isFailed }: Whose & { readonly isFailed?: true | undefined },
) {
  const listed = servers.map(({ serverId: id, label, paidUntil: until }) => ({
    ...{ id, label: plainLabel(label, 40) },
    until,
  }));
  return checkButton.element('Check state', {
    ...{ act: action, servers: listed },
    by,
    approvedBy,
    isFailed,
  });
}

/** The user who presses it acts in their own name, and confirms first. */
export function againElement(action: PowerAction, { serverId: id }: Pick<FollowedServer, 'serverId'>) {
  return powerButton[action].element('Try again', { id }, { confirm: confirmationOf(action) });
}
