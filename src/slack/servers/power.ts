import type { PowerAction } from '../../domain/server.ts';
import { type Command, defineCommand } from '../kit/command.ts';
import { powerButton } from './buttons.ts';
import { chooseSuggestions, offerServers, pickChoice } from './pick-server.ts';
import { runPower } from './run-power.ts';
import { runSeveral } from './run-several.ts';

/** More servers than this in one command are probably a mistake. */
const MOST_AT_ONCE = 20;

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
      return { names };
    },
    run: async ({ names }, request) => {
      if (names.length > 1)
        return runSeveral(
          action,
          names.map((name) => ({ typed: name })),
          request,
        );
      return offerServers(action, { typed: names[0] ?? '' }, request, (ref) =>
        runPower(action, ref, request),
      );
    },
    actions: [
      powerButton[action].on((value, request) => {
        if ('typed' in value) {
          return offerServers(action, value, request, (ref) => runPower(action, ref, request));
        }
        const { id, on, sure } = value;
        return runPower(action, { id }, request, { isSure: sure === true, isOnCard: on === 'card' });
      }),
      pickChoice[action].on((id, request) => runPower(action, { id: Number(id) }, request)),
    ],
    suggestions: [chooseSuggestions(action)],
  });
}
