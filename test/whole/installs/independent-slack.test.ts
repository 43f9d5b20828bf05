import { createEmulator } from 'emulate';
import { expect, onTestFinished, test } from 'vitest';
import { CLIENT, startInstalls } from '../../support/installs.ts';

/*
 * A Slack that others have written (github.com/vercel-labs/emulate), so that what both the app and the local Slack
 * misunderstand shows. It knows neither cancelling, several workspaces, uninstalling nor token rotation.
 */
async function startEmulator() {
  const app = {
    client_id: CLIENT.clientId,
    client_secret: CLIENT.clientSecret,
    name: 'vps',
    redirect_uris: ['http://127.0.0.1/slack/oauth_redirect'],
  };
  const slack = await createEmulator({
    service: 'slack',
    port: 0,
    seed: {
      slack: {
        team: { name: 'Elsewhere', domain: 'elsewhere' },
        users: [{ name: 'ann', real_name: 'Ann', email: 'ann@elsewhere.test' }],
        oauth_apps: [app],
      },
    },
  });
  onTestFinished(() => slack.close());
  return slack;
}

/** Presses the button of a user on the emulator's page; gives the app's address that the browser is sent back to. */
async function allow(url: string): Promise<string> {
  const page = await (await fetch(url)).text();
  const fields = [...page.matchAll(/name="(\w+)" value="([^"]*)"/g)].map(([, name = '', value = '']) => [
    name,
    value.replaceAll('&amp;', '&').replaceAll('&#x2F;', '/'),
  ]);
  const answer = await fetch(new URL('/oauth/v2/authorize/callback', url), {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams(Object.fromEntries(fields)),
  });
  const { pathname, search } = new URL(answer.headers.get('location') ?? 'about:blank');
  return `${pathname}${search}`;
}

test('an install at an independent emulator of Slack stores a token that the emulator accepts, once for each code, and is refused with an explanation if the emulator didn’t issue its code', async () => {
  const slack = await startEmulator();
  await using team = await startInstalls({ settings: { SLACK_API_URL: `${slack.url}/api/` } });
  const browser = team.browser();
  const allowed = await allow(await browser.begin());
  const page = await browser.open(allowed);
  expect([page.status, page.text]).toEqual([200, expect.stringContaining('vps is ready in Elsewhere')]);
  const [workspaceId = ''] = await team.app.ports.audit.listWorkspaces();
  const installation = await team.app.ports.installationStore.find(workspaceId);
  expect(installation).toMatchObject({ isOrg: false, generation: 1, isRefreshRefused: false });
  const tested = await fetch(`${slack.url}/api/auth.test`, {
    method: 'POST',
    headers: { authorization: `Bearer ${installation?.tokens.bot.reveal()}` },
  });
  expect(await tested.json()).toMatchObject({ ok: true, team_id: workspaceId });
  expect((await browser.open(allowed)).text).toContain('This install has expired');

  const madeUp = (await allow(await browser.begin())).replace(/code=\w+/, 'code=made-up');
  const refused = await browser.open(madeUp);
  expect([refused.status, refused.text]).toEqual([502, expect.stringContaining('<code>invalid_code</code>')]);
});
