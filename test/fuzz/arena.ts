import { Secret } from '../../src/core/secret.ts';
import { silentLog } from '../../src/log.ts';
import { TEAM } from '../../src/sandbox/slack/workspace.ts';
import { realSystem } from '../../src/system.ts';
import { askForLink } from '../support/acts.ts';
import { startInstalls } from '../support/installs.ts';
import type { Exemptions } from '../support/invariants.ts';
import { SECRETS } from '../support/invariants.ts';
import { changesSeen } from '../support/raw-user.ts';
import { ENCRYPTION_KEY, startTeam, type TeamOptions } from '../support/team.ts';

export type Arena = Awaited<ReturnType<typeof startArena>>;

const SERVERS = 5;
/** The app answers where it was told to, and opens forms with what it was given; a busy machine is late. */
const EXPECTED = /reply_url_unknown|trigger|late_ack/;

/** What malformed inputs are sent to: an app with one token, whose users have roles, and one that is installed by OAuth. */
export async function startArena(exempt: Exemptions = {}) {
  const logged: string[] = [];
  const error = (words: string, fields: object = {}) =>
    logged.push(`logged as an error: ${words} ${JSON.stringify(fields)}`);
  const options: TeamOptions = {
    mode: 'http',
    engine: 'sqlite',
    hasRateLimits: false,
    log: { ...silentLog, error },
    exempt: { slackRulesKept: 'the app answers where it was told to', ...exempt },
  };
  const team = await startTeam(options);
  const installs = await startInstalls(options);
  await installs.install(installs.first, 'olga');
  await installs.app.ports.apiKeys.put(TEAM.id, new Secret(installs.apiKey), 'U0OWNER001', realSystem.now());
  const both = [team, installs];
  const [[serverId = 0] = []] = both.map((each) => each.hosting.seedServers(each.account, SERVERS, 'web'));
  const count = () => both.map((each) => changesSeen(each).length);
  const rules = () =>
    both.flatMap(({ slack }) => slack.brokenRules()).filter(({ rule }) => !EXPECTED.test(rule));
  let changesBefore = count();
  let rulesBefore = rules().length;
  return {
    team,
    installs,
    /** The first server of either account. */
    serverId,
    /** The path of the form for the key. */
    link: new URL(await askForLink(team)).pathname,
    /** What must not stand in any answer, by name. */
    secrets: {
      ...SECRETS,
      'the API key': team.apiKey,
      'the API key of the other account': installs.apiKey,
      'the encryption key': ENCRYPTION_KEY.split(':')[1] ?? '',
    },
    /** What went wrong since the last time that can't be seen in an answer, in sentences. */
    takeFaults: (): readonly string[] => {
      const changes = count();
      const changed = both.flatMap((each, at) =>
        changesSeen(each)
          .slice(changesBefore[at])
          .map(({ method, path }) => `changed at the hosting API: ${method} ${path}`),
      );
      changesBefore = changes;
      const broken = rules()
        .slice(rulesBefore)
        .map(({ rule, words }) => `broke a rule of Slack: ${rule}, ${words}`);
      rulesBefore += broken.length;
      return [...logged.splice(0), ...changed, ...broken];
    },
    [Symbol.asyncDispose]: async () => {
      await team[Symbol.asyncDispose]();
      await installs[Symbol.asyncDispose]();
    },
  };
}
