import type { SeenAbility, SlackAbility, SlackProblem } from '../../app/account/ports.ts';
import type { SlackStatus } from '../../app/account/read-status.ts';
import { section } from '../kit/blocks.ts';

/** A line for each thing that Slack may or may not allow the app: a dot, a word, and what fixes it. */
export function slackStatusBlock({ abilities, announces, needsInstall }: SlackStatus) {
  const lines = ABILITIES.map((ability) => {
    const isCovered = ability === 'announcements' && isRefused(abilities.channel_lookups);
    const why = isCovered ? UNSEEN_READERS : describe(abilities[ability]);
    const [dot, words] = ability === 'announcements' && !announces ? OFF_BY_SETTINGS : why;
    return `${dot} ${NAMES[ability]}: ${words}`;
  });
  const all = needsInstall ? [NEEDS_INSTALL, ...lines] : lines;
  return section(['*What the app may do in Slack*', ...all].join('\n'));
}

const NEEDS_INSTALL =
  '🔴 Installation: Slack won’t renew the app’s token, so it will stop working within hours. Install the app again.';

type Line = readonly [dot: string, words: string];

const ABILITIES: readonly SlackAbility[] = [
  'direct_messages',
  'announcements',
  'user_lookups',
  'group_lookups',
  'channel_lookups',
];

const NAMES: Readonly<Record<SlackAbility, string>> = {
  direct_messages: 'Direct messages',
  announcements: 'Announcements in channels',
  user_lookups: 'User lookups',
  group_lookups: 'User group lookups',
  channel_lookups: 'Channel lookups',
};

const OFF_BY_SETTINGS: Line = ['⚪', 'turned off in `/vps settings`'];
/** Where the readers aren't known, nothing is announced. */
const UNSEEN_READERS: Line = [
  '🔴',
  'off, because the app can’t tell which channels other organizations share. Fix the channel lookups.',
];

const isRefused = (seen: SeenAbility): seen is SlackProblem => typeof seen === 'object';

function describe(seen: SeenAbility): Line {
  if (seen === 'works') return ['🟢', 'working'];
  if (seen === 'untried') return ['⚪', 'not tried in the last hour'];
  return ['🔴', `off. ${wordsOfProblem(seen)}`];
}

/** What to do about it, in the app's settings on api.slack.com. */
function wordsOfProblem(problem: SlackProblem): string {
  switch (problem.code) {
    case 'messages_tab_disabled':
      return 'Turn on the Messages tab under *App Home* in the app’s settings.';
    case 'missing_scope':
      return `Add ${scopeList(problem.scopes)} and reinstall the app.`;
    case 'token_refused':
      return `Slack no longer accepts the bot token (\`${problem.error}\`). Install the app again. If it uses \`SLACK_BOT_TOKEN\`, set the new token there and restart it.`;
    case 'restricted':
      return `Slack refuses it (\`${problem.error}\`). Ask a workspace admin to lift the restriction.`;
  }
}

function scopeList(scopes: readonly string[]): string {
  const named = scopes.map((scope) => `\`${scope}\``).join(' and ');
  return `the ${scopes.length === 1 ? 'scope' : 'scopes'} ${named}`;
}
