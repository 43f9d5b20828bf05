import { MOST_AT_ONCE, selectServers } from '../../app/servers/select-servers.ts';
import { isPattern } from '../../domain/name-pattern.ts';
import type { PowerAction } from '../../domain/server.ts';
import { type Command, defineCommand } from '../kit/command.ts';
import type { SlackRequest } from '../transport/request.ts';
import { sendWaiting } from '../transport/waiting.ts';
import { powerButton, severalButton } from './buttons.ts';
import { chooseSuggestions, offerMatches, offerServers, pickChoice } from './pick-server.ts';
import { runPower } from './run-power.ts';
import { runConfirmed, runSeveral } from './run-several.ts';
import { selectionMessage } from './several-words.ts';

export const start = definePowerCommand('start', 'Start servers');
export const stop = definePowerCommand('stop', 'Stop servers (billing continues)');
export const reboot = definePowerCommand('reboot', 'Reboot servers');

function definePowerCommand(action: PowerAction, summary: string): Command {
  return defineCommand({
    name: action,
    usage: `${action} [server…]`,
    summary,
    needs: 'operator',
    parse: ({ words }) => {
      const names = [...new Set(words.flatMap((word) => word.split(',')).filter((word) => word !== ''))];
      if (names.length > MOST_AT_ONCE) return `You can ${action} up to ${MOST_AT_ONCE} servers at once.`;
      return { names, whole: words.join(' ') };
    },
    run: async ({ names, whole }, request) => {
      const [typed = ''] = names;
      if (names.length > 1 || isPattern(typed)) return runSelection(action, { names, whole }, request);
      return offerServers(action, { typed }, request, (ref) => runPower(action, ref, request));
    },
    actions: [
      powerButton[action].on((value, request) => {
        if ('typed' in value) {
          return offerServers(action, value, request, (ref) => runPower(action, ref, request));
        }
        const { id, on, sure } = value;
        return runPower(action, { id }, request, { isSure: sure === true, isOnCard: on === 'card' });
      }),
      severalButton[action].on(({ id, at, servers }, request) => {
        const refs = servers.map(([serverId, label]) => ({ id: serverId, label }));
        return runConfirmed(action, { id, at }, refs, request);
      }),
      pickChoice[action].on((id, request) => runPower(action, { id: Number(id) }, request)),
    ],
    suggestions: [chooseSuggestions(action)],
  });
}

/** Several names run at once; what patterns match is listed first. */
async function runSelection(
  action: PowerAction,
  typed: { readonly names: readonly string[]; readonly whole: string },
  request: SlackRequest,
): Promise<void> {
  await offerMatches(action, request, async () => {
    const onWait = sendWaiting(request);
    const selection = await request.execute(selectServers[action], { ...typed, onWait });
    if (selection.kind === 'whole') return runPower(action, { id: selection.server.id }, request);
    if (selection.kind === 'names')
      return runSeveral(
        action,
        typed.names.map((name) => ({ typed: name })),
        request,
      );
    const message = selectionMessage(action, selection, (error) => request.explain(error));
    await request.reply.send(message);
  });
}
