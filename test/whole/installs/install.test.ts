import { describe, expect, it, test } from 'vitest';
import { Secret } from '../../../src/core/secret.ts';
import { SECOND_TEAM, TEAM } from '../../../src/sandbox/slack/workspace.ts';
import { movableSystem } from '../../support/clocks.ts';
import { CLIENT, startInstalls } from '../../support/installs.ts';
import { postgresUrl } from '../../support/postgres.ts';
import { startTeam } from '../../support/team.ts';

describe('an install', () => {
  it('ends on a page that names the workspace and the next step, and the app works there', async () => {
    await using team = await startInstalls();
    const page = await team.install(team.first);
    expect(page.status).toBe(200);
    expect(page.text).toContain('vps is ready in Sandbox');
    expect(page.text).toContain('/vps connect');
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    const owner = team.first.as('olga').in('#ops');
    await owner.types('/vps connect');
    await owner.sees('Enter the API key');
    expect(team.slack.brokenRules()).toEqual([]);
  });

  it('is followed by a direct message with the next step, unless the hosting account is connected', async () => {
    await using team = await startInstalls();
    await team.install(team.first);
    const olga = team.first.as('olga').in('dm');
    await olga.sees('To get started, connect your hosting account');
    await olga.presses('Connect…');
    await olga.sees('Enter the API key');
    await team.app.ports.apiKeys.put(TEAM.id, new Secret(team.apiKey), olga.id, 0);
    olga.overlooksOldMessages();
    await team.install(team.first);
    await team.install(team.second);
    await team.second.as('olga').in('dm').sees('To get started');
    olga.doesNotSee('To get started');
  });

  it('makes the user who installed the app an owner, and no one else', async () => {
    await using team = await startInstalls();
    await team.install(team.first, 'nora');
    const { grants, audit } = team.app.ports;
    const nora = team.first.as('nora').id;
    expect(await grants.list(TEAM.id)).toMatchObject([{ subjectId: nora, role: 'owner', pattern: '' }]);
    const entries = await audit.list({ workspaceId: TEAM.id, limit: 9 });
    expect(entries.map(({ action, actorId }) => [action, actorId])).toEqual([
      ['access_grant', nora],
      ['install', nora],
    ]);
  });

  it('that another user repeats changes the token and no roles', async () => {
    await using team = await startInstalls();
    await team.install(team.first, 'olga');
    await team.install(team.first, 'nora');
    const { grants, installationStore } = team.app.ports;
    expect((await grants.list(TEAM.id)).map(({ subjectId }) => subjectId)).toEqual([
      team.first.as('olga').id,
    ]);
    expect(await installationStore.find(TEAM.id)).toMatchObject({ generation: 2 });
    const nora = team.first.as('nora').in('#ops');
    await nora.types('/vps access');
    await nora.sees('You need the owner role');
  });

  it('puts the name of a workspace on its page as text', async () => {
    await using team = await startInstalls();
    const third = team.slack.addTeam({ id: 'T0EVIL0001', name: '<script>x</script>', domain: 'evil' });
    const browser = team.browser();
    const allowed = await browser.allow(await browser.begin(), 'T0EVIL0001', third.as('olga').id);
    const page = await browser.open(allowed);
    expect(page.text).toContain('&#60;script&#62;');
    expect(page.text).not.toContain('<script>');
  });

  it('shows and logs no secret, whether it works or not', async () => {
    const lines: string[] = [];
    const write = (words: string, fields?: unknown) => lines.push(JSON.stringify([words, fields]));
    const log = { debug: write, info: write, warn: write, error: write };
    await using team = await startInstalls({ log });
    const pages = [await team.install(team.first)];
    team.slack.faults.failMethod('oauth.v2.access', 'bad_client_secret', 1);
    pages.push(await team.install(team.first));
    const [issued] = team.slack.oauth.listActive(TEAM.id);
    const told = [...lines, ...pages.map(({ text }) => text)].join('\n');
    expect(told).toContain('installed');
    for (const secret of [issued?.token ?? '', CLIENT.clientSecret, 'xoxb-'])
      expect(told).not.toContain(secret);
  });
});

describe('an install that is not completed', () => {
  const nothingStored = async (team: Awaited<ReturnType<typeof startInstalls>>) => {
    expect(await team.app.ports.installationStore.find(TEAM.id)).toBeUndefined();
    expect(await team.app.ports.audit.listWorkspaces()).toEqual([]);
  };

  it('because the user canceled it in Slack shows a page that says so', async () => {
    await using team = await startInstalls();
    const browser = team.browser();
    const page = await browser.open(await browser.deny(await browser.begin()));
    expect(page.status).toBe(403);
    expect(page.text).toContain('You canceled the install in Slack');
    await nothingStored(team);
  });

  it('because its link was opened in another browser stores nothing', async () => {
    await using team = await startInstalls();
    const [victim, attacker] = [team.browser(), team.browser()];
    const url = await attacker.begin();
    const allowed = await attacker.allow(url, TEAM.id, team.first.as('nora').id);
    expect((await victim.open(allowed)).text).toContain('This install has expired');
    await victim.begin();
    expect((await victim.open(allowed)).text).toContain('This install has expired');
    await nothingStored(team);
  });

  it('because its state was made up stores nothing, although the cookie says the same', async () => {
    await using team = await startInstalls();
    const browser = team.browser();
    const allowed = await browser.allow(await browser.begin(), TEAM.id, team.first.as('olga').id);
    const code = new URLSearchParams(allowed.split('?')[1]).get('code');
    const answer = await fetch(`${team.appUrl}/slack/oauth_redirect?code=${code}&state=made-up`, {
      headers: { cookie: 'vps-install=made-up' },
    });
    expect(answer.status).toBe(400);
    await nothingStored(team);
  });

  it('because its link is opened again shows a page that says so, and keeps what was installed', async () => {
    await using team = await startInstalls();
    const browser = team.browser();
    const allowed = await browser.allow(await browser.begin(), TEAM.id, team.first.as('olga').id);
    expect((await browser.open(allowed)).status).toBe(200);
    const again = await browser.open(allowed);
    expect(again.status).toBe(400);
    expect(again.text).toContain('This install has expired');
    expect(await team.app.ports.installationStore.find(TEAM.id)).toMatchObject({ generation: 1 });
  });

  it('because its link is opened again by a browser that kept the cookie changes nothing', async () => {
    await using team = await startInstalls();
    const browser = team.browser();
    const allowed = await browser.allow(await browser.begin(), TEAM.id, team.first.as('olga').id);
    const headers = { cookie: browser.cookie };
    expect((await browser.open(allowed)).status).toBe(200);
    const again = await fetch(`${team.appUrl}${allowed}`, { headers });
    expect(again.status).toBe(502);
    expect(await team.app.ports.installationStore.find(TEAM.id)).toMatchObject({ generation: 1 });
  });

  it('because its state was altered, or signed with a key that the app doesn’t have, stores nothing', async () => {
    await using team = await startInstalls();
    const browser = team.browser();
    const allowed = await browser.allow(await browser.begin(), TEAM.id, team.first.as('olga').id);
    const code = new URLSearchParams(allowed.split('?')[1]).get('code');
    const [name, state = ''] = browser.cookie.split('=');
    const later = state.replace(/\.(\d)/, (_, digit) => `.${Number(digit) + 1}`);
    for (const altered of [later, `${state}x`, state.replace('.v1.k1.', '.v1.k9.'), state.slice(24)]) {
      const answer = await fetch(`${team.appUrl}/slack/oauth_redirect?code=${code}&state=${altered}`, {
        headers: { cookie: `${name}=${altered}` },
      });
      expect([altered, answer.status]).toEqual([altered, 400]);
      expect(await answer.text()).toContain('This install has expired');
    }
    await nothingStored(team);
  });

  it('because ten minutes have passed shows a page that says so', async () => {
    const system = movableSystem();
    await using team = await startInstalls({ system });
    const browser = team.browser();
    const allowed = await browser.allow(await browser.begin(), TEAM.id, team.first.as('olga').id);
    system.move(601_000);
    expect((await browser.open(allowed)).text).toContain('This install has expired');
    await nothingStored(team);
  });

  it.each([
    'invalid_code',
    'bad_client_secret',
    'bad_redirect_uri',
  ])('because Slack answers %s names that error', async (error) => {
    await using team = await startInstalls();
    team.slack.faults.failMethod('oauth.v2.access', error);
    const page = await team.install(team.first);
    expect(page.status).toBe(502);
    expect(page.text).toContain(`Slack didn’t complete the install (<code>${error}</code>)`);
    await nothingStored(team);
  });

  it('because the app crashed before it was stored can be repeated', async () => {
    await using team = await startInstalls();
    // The code is exchanged, and then nothing more is heard of Slack.
    team.slack.faults.failMethod('auth.test', 'internal_error', 1);
    expect((await team.install(team.first)).status).toBe(502);
    await nothingStored(team);
    await team.restart();
    expect((await team.install(team.first)).status).toBe(200);
  });

  it('is completed by an app that was restarted in between', async () => {
    await using team = await startInstalls();
    const browser = team.browser();
    const allowed = await browser.allow(await browser.begin(), TEAM.id, team.first.as('olga').id);
    await team.restart();
    expect((await browser.open(allowed)).status).toBe(200);
  });
});

describe('a workspace that is not in ALLOWED_WORKSPACES', () => {
  it('can’t install the app: nothing is stored, and Slack takes the token back', async () => {
    await using team = await startInstalls({ settings: { ALLOWED_WORKSPACES: TEAM.id } });
    const page = await team.install(team.second);
    expect(page.status).toBe(403);
    expect(page.text).toContain('This workspace isn’t allowed');
    expect(page.text).toContain('Second');
    expect(await team.app.ports.installationStore.find(SECOND_TEAM.id)).toBeUndefined();
    expect(team.slack.oauth.listActive(SECOND_TEAM.id)).toEqual([]);
    expect((await team.install(team.first)).status).toBe(200);
  });

  it('is not served any more once it was taken out', async () => {
    await using team = await startInstalls();
    await team.install(team.second);
    const environment = team.environment as Record<string, string>;
    environment.ALLOWED_WORKSPACES = TEAM.id;
    await team.restart();
    const owner = team.second.as('olga').in('#ops');
    await owner.types('/vps status');
    await owner.sees('This workspace may not use this app');
    expect(await team.app.ports.installations.isServed(SECOND_TEAM.id)).toBe(false);
    // What is stored stays, and so does its token, even if another user tries again.
    expect((await team.install(team.second)).status).toBe(403);
    expect(team.slack.oauth.listActive(SECOND_TEAM.id)).toHaveLength(1);
    environment.ALLOWED_WORKSPACES = '';
    await team.restart();
    await owner.types('/vps status');
    await owner.sees('Slack permissions');
  });
});

describe('the path of an install', () => {
  it('binds the install to the browser by a cookie that no script and no other site can read', async () => {
    await using team = await startInstalls();
    const answer = await fetch(`${team.appUrl}/slack/install`, { redirect: 'manual' });
    expect(answer.status).toBe(302);
    const cookie = answer.headers.get('set-cookie') ?? '';
    for (const attribute of ['HttpOnly', 'SameSite=Lax', 'Path=/', 'Max-Age=600'])
      expect(cookie).toContain(attribute);
    const url = new URL(answer.headers.get('location') ?? '');
    expect(url.pathname).toBe('/oauth/v2/authorize');
    expect(url.searchParams.get('redirect_uri')).toBe('http://127.0.0.1/slack/oauth_redirect');
    expect(cookie).toContain(`=${url.searchParams.get('state')};`);
  });

  it('binds its cookie to the exact host when it is served over https', async () => {
    await using team = await startInstalls({ settings: { PUBLIC_URL: 'https://vps.example.com' } });
    const answer = await fetch(`${team.appUrl}/slack/install`, { redirect: 'manual' });
    expect(answer.headers.get('set-cookie')).toMatch(/^__Host-vps-install=[\w.-]+; .*Secure/);
  });

  it.each(['HEAD', 'POST', 'OPTIONS'])('starts no install on %s', async (method) => {
    await using team = await startInstalls();
    for (const path of ['/slack/install', '/slack/oauth_redirect']) {
      const answer = await fetch(`${team.appUrl}${path}`, { method, redirect: 'manual' });
      expect([answer.status, answer.headers.get('set-cookie')]).toEqual([405, null]);
    }
  });

  it.each([
    '',
    '?',
    '?code=',
    '?code=x&state=',
    '?state=x',
    '?error=server_error',
    '?code=%00&state=%ff',
    '?code=x&code=y&state=a&state=b',
  ])('answers /slack/oauth_redirect%s with an explanation', async (query) => {
    await using team = await startInstalls();
    const page = await team.browser().open(`/slack/oauth_redirect${query}`);
    expect(page.status).toBeGreaterThanOrEqual(400);
    expect(page.status).toBeLessThan(503);
    expect(page.text).toContain('<h1>');
  });

  it('does not exist where the app serves one workspace', async () => {
    await using team = await startTeam();
    for (const path of ['/slack/install', '/slack/oauth_redirect'])
      expect((await fetch(`${team.appUrl}${path}`)).status).toBe(404);
  });
});

describe('an app that is not installed yet', () => {
  it('is ready, and has called Slack for nothing but its WebSocket', async () => {
    await using team = await startInstalls();
    const ready = await fetch(`${team.appUrl}/readyz`);
    expect([ready.status, await ready.text()]).toEqual([200, 'ok\n']);
    const asked = team.slack.traffic().map(({ what }) => what);
    expect(asked.filter((what) => what !== 'apps.connections.open')).toEqual([]);
  });

  it('answers a command with the way to install it, and audits nothing', async () => {
    await using team = await startInstalls();
    const owner = team.first.as('olga').in('#ops');
    await owner.types('/vps list');
    await owner.sees('vps isn’t installed in this workspace. Install it, then try again.');
    expect(await team.app.ports.audit.listWorkspaces()).toEqual([]);
  });
});

const ORDER = '/vps create plan=small location=ams image=debian-13 label=web-1';

/** Two workspaces that installed the app, each with a hosting account of its own. */
async function startTwo() {
  const team = await startInstalls({ engine: 'postgres' });
  for (const slack of [team.first, team.second])
    expect((await team.install(slack)).text).toContain('installed');
  const other = team.hosting.accounts.create({ name: 'Second', balanceMinor: 100_000 });
  const otherKey = team.hosting.createKey(other, { beforeTopUp: true });
  await team.app.ports.apiKeys.put(TEAM.id, new Secret(team.apiKey), 'U0OWNER001', 0);
  await team.app.ports.apiKeys.put(SECOND_TEAM.id, new Secret(otherKey), 'U0OWNER001', 0);
  const owners = [team.first, team.second].map((slack) => slack.as('olga').in('#ops'));
  return Object.assign(team, { other, owners });
}

describe.skipIf(!postgresUrl)('two workspaces on one PostgreSQL database', () => {
  test('each pay once when both order the same label at once, and each owner sees only their own password', async () => {
    await using team = await startTwo();
    const { hosting, account, other, owners } = team;
    await Promise.all(owners.map((owner) => owner.types(ORDER)));
    await Promise.all(owners.map((owner) => owner.presses('Create and pay')));
    const [first = '', second = ''] = await Promise.all(
      [account, other].map(async (one, at) => {
        await owners[at]?.sees("I've saved it");
        return hosting.passwordOf(hosting.listServers(one)[0]?.id ?? 0);
      }),
    );
    expect([account, other].map((one) => hosting.charges(one).length)).toEqual([1, 1]);
    const [one, two] = owners.map((owner) => owner.screen());
    expect([one?.includes(first), one?.includes(second)]).toEqual([true, false]);
    expect([two?.includes(first), two?.includes(second)]).toEqual([false, true]);
  });

  test('are independent when one uninstalls: it is erased, also after a restart, and the other keeps working', async () => {
    await using team = await startTwo();
    const { hosting, other, first, second, owners } = team;
    await owners[0]?.types(ORDER);
    await owners[0]?.presses('Create and pay');
    await owners[0]?.sees("I've saved it");
    await first.uninstallApp();
    const left = async () => {
      const { installationStore, apiKeys, passwords } = team.app.ports;
      const held = [...(await passwords.listHeld(TEAM.id))].length;
      return [await installationStore.find(TEAM.id), await apiKeys.find(TEAM.id), held];
    };
    await expect.poll(left).toEqual([undefined, undefined, 0]);
    await team.restart();
    expect(await left()).toEqual([undefined, undefined, 0]);
    const owner = second.as('olga').in('#ops');
    await owner.types(ORDER);
    await owner.presses('Create and pay');
    await owner.sees("I've saved it");
    expect(hosting.charges(other)).toHaveLength(1);
    for (const id of [TEAM.id, SECOND_TEAM.id])
      expect(await team.app.ports.audit.verify(id)).toMatchObject({ ok: true });
    expect((await team.install(first)).text).toContain('installed');
    await first.as('olga').in('#ops').types('/vps list');
    await first.as('olga').in('#ops').sees('No hosting account is connected');
  });
});
