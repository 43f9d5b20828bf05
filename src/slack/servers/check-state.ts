import { checkServers } from '../../app/servers/check-servers.ts';
import { type FollowedServer, isPower } from '../../domain/followed-act.ts';
import { actions, context, type Message, textMessage } from '../kit/blocks.ts';
import { count, mention, slackDate } from '../kit/text.ts';
import type { SlackRequest } from '../transport/request.ts';
import { type Checked, checkButton } from './buttons.ts';
import { actMessage, againElement, checkElement } from './follow-message.ts';
import { type FollowWording, serverLines, serverWords } from './follow-words.ts';

/** Replaces the message with the current state, for users who may see the servers. */
export const checkState = checkButton.on(async (pressed, request) => {
  const servers = pressed.servers.map(
    ({ id, label, until }): FollowedServer => ({
      ...{ serverId: id, label, standing: 'waiting', hasChanged: false },
      paidUntil: until,
    }),
  );
  const checked = await request.execute(checkServers, { action: pressed.act, servers });
  await request.reply.replace(checkedMessage(pressed, checked, request));
});

export function checkedMessage(
  pressed: Checked,
  servers: readonly FollowedServer[],
  { caller, now }: Pick<SlackRequest, 'caller' | 'now'>,
): Message {
  const { act: action, by, approvedBy } = pressed;
  const wording: FollowWording = { action, isMeasured: false, after: '' };
  const more = [
    context(`Checked by ${mention(caller.actor.userId)}, ${slackDate(now())}`),
    ...nextBlocks(pressed, servers),
  ];
  if (by !== undefined) return actMessage({ action, actorId: by, servers, approvedBy }, wording, ...more);
  const [only, ...others] = servers;
  if (only && others.length === 0) return textMessage(serverWords(only, wording), ...more);
  return textMessage(`*${count(servers.length, 'server')}*`, ...serverLines(servers, wording), ...more);
}

/** What failed can be tried again whatever the state is. */
function nextBlocks({ act: action, by, approvedBy, isFailed }: Checked, servers: readonly FollowedServer[]) {
  const waiting = isFailed ? servers : servers.filter(({ standing }) => standing === 'waiting');
  const [only, ...others] = waiting;
  if (!only) return [];
  const again =
    isPower(action) && others.length === 0 && only.standing !== 'gone' ? [againElement(action, only)] : [];
  return [actions(checkElement(action, waiting, { by, approvedBy, isFailed }), ...again)];
}
