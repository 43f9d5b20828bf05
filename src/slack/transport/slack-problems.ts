import type { SlackProblem, SlackProblems } from '../../app/account/ports.ts';
import type { WorkspaceId } from '../../domain/ids.ts';
import type { System } from '../../system.ts';
import type { SeenAnswer } from './slack-api.ts';

/** A problem that has not been met again for this long counts as solved: Slack tells nobody when the app is set up anew. */
const KNOWN_FOR_MS = 60 * 60_000;

/** Learns from Slack's answers what is wrong with how the app is set up. */
export interface SeenProblems extends SlackProblems {
  watch(workspaceId: WorkspaceId, seen: SeenAnswer): void;
}

/** What each problem means for operators, in a sentence. */
export const PROBLEM_WORDS: Readonly<Record<SlackProblem, string>> = {
  messages_tab_disabled:
    'Slack refuses direct messages (messages_tab_disabled): create the app again from manifest.yml, or turn on its Messages tab',
  channels_unreadable:
    'changes are not announced in channels: the scope channels:read is missing, so the app can’t tell which channels are shared with other organizations',
};

/** Forgets a problem once Slack takes such a call again. */
export function createSlackProblems(system: System): SeenProblems {
  const seenAt = new Map<string, number>();
  return {
    watch: (workspaceId, seen) => {
      const problem = problemAbout(seen);
      if (problem === undefined) return;
      const key = `${workspaceId} ${problem}`;
      if (isMet(problem, seen)) seenAt.set(key, system.elapsed());
      else if (seen.error === undefined) seenAt.delete(key);
    },
    list: (workspaceId) =>
      PROBLEMS.filter((problem) => {
        const at = seenAt.get(`${workspaceId} ${problem}`);
        return at !== undefined && system.elapsed() - at < KNOWN_FOR_MS;
      }),
  };
}

const PROBLEMS: readonly SlackProblem[] = ['messages_tab_disabled', 'channels_unreadable'];

/** Which problem this call could show. */
function problemAbout({ method, channelId = '' }: SeenAnswer): SlackProblem | undefined {
  if (method === 'conversations.info' && channelId.startsWith('C')) return 'channels_unreadable';
  return method.startsWith('chat.post') && /^[UWD]/.test(channelId) ? 'messages_tab_disabled' : undefined;
}

function isMet(problem: SlackProblem, { error }: SeenAnswer): boolean {
  return error === (problem === 'channels_unreadable' ? 'missing_scope' : problem);
}
