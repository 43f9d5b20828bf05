import { SECOND_TEAM, TEAM, type UserName } from '../../src/sandbox/slack/workspace.ts';
import type { LocalSlack } from './slack/local-slack.ts';
import { startTeam, type Team, type TeamOptions } from './team.ts';

export const CLIENT = { clientId: '111.222', clientSecret: 'canary-client-secret' } as const;

export type Installs = Awaited<ReturnType<typeof startInstalls>>;

/** Starts an app that is not installed yet, and two workspaces that can install it by OAuth. */
export async function startInstalls(options: TeamOptions = {}) {
  const team = await startTeam({
    isConnected: false,
    hasRoles: false,
    ...options,
    settings: {
      SLACK_BOT_TOKEN: '',
      SLACK_CLIENT_ID: CLIENT.clientId,
      SLACK_CLIENT_SECRET: CLIENT.clientSecret,
      OWNERS: '',
      ...options.settings,
    },
    slackApp: {
      botToken: '',
      oauth: { ...CLIENT, redirectUrls: ['http://127.0.0.1/slack/oauth_redirect'] },
      ...options.slackApp,
    },
  });
  const second = team.slack.addTeam(SECOND_TEAM);
  team.watch.add(second);
  const browser = () => createBrowser(team);
  return Object.assign(team, {
    first: team.slack,
    second,
    browser,
    /** The whole way of an install; gives the last page. */
    install: async (slack: LocalSlack, userName: UserName = 'olga') => {
      const visit = browser();
      const place = slack === second ? SECOND_TEAM.id : TEAM.id;
      const allowed = await visit.allow(await visit.begin(), place, slack.as(userName).id);
      return visit.open(allowed);
    },
  });
}

/** Opens a browser at an app: it keeps the app's cookie, and presses Slack's buttons. */
export function createBrowser(team: Pick<Team, 'appUrl'>) {
  let cookie = '';
  const press = async (url: string, fields: Record<string, string>) => {
    const answer = await fetch(url, {
      method: 'POST',
      redirect: 'manual',
      body: new URLSearchParams(fields),
    });
    const { pathname, search } = new URL(answer.headers.get('location') ?? 'about:blank');
    return `${pathname}${search}`;
  };
  return {
    get cookie() {
      return cookie;
    },
    /** Opens `/slack/install`; gives Slack's address that it is sent to. */
    begin: async () => {
      const answer = await fetch(`${team.appUrl}/slack/install`, { redirect: 'manual' });
      cookie = (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
      return answer.headers.get('location') ?? '';
    },
    /** Presses Allow, or Cancel, on Slack's page; gives the app's address that it is sent back to. */
    allow: (url: string, place: string, user: string) => press(url, { decision: 'allow', place, user }),
    deny: (url: string) => press(url, { decision: 'deny' }),
    /** Opens an address of the app. */
    open: async (path: string) => {
      const answer = await fetch(`${team.appUrl}${path}`, { headers: { cookie }, redirect: 'manual' });
      cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? cookie;
      return { status: answer.status, text: await answer.text(), headers: answer.headers };
    },
  };
}
