import { describe, expect, it } from 'vitest';
import { Secret } from '../../../src/core/secret.ts';
import { SECOND_TEAM, TEAM } from '../../../src/sandbox/slack/workspace.ts';
import { movableSystem } from '../../support/clocks.ts';
import { CLIENT, type Installs, startInstalls } from '../../support/installs.ts';
import { startTeam } from '../../support/team.ts';

describe.concurrent('an install', () => {
  it('ends on a page that names the workspace and the next step, and the app works there', async () => {
    await using team = await startInstalls();
    const page = await team.install(team.first);
    expect(page.status).toBe(200);
    expect(page.text).toContain('vps is ready in Sandbox');
    expect(page.text).toContain('/vps connect');
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    const owner = team.first.as('olga');
    await owner.types('/vps connect');
    await owner.sees('Enter the API key');
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

  it('makes the user who installed the app an owner, and no one else, even one who repeats it', async () => {
    await using team = await startInstalls();
    await team.install(team.first, 'olga');
    const { grants, audit, installationStore } = team.app.ports;
    const olga = team.first.as('olga').id;
    const owners = [{ subjectId: olga, role: 'owner', pattern: '' }];
    expect(await grants.list(TEAM.id)).toMatchObject(owners);
    const entries = await audit.list({ workspaceId: TEAM.id, limit: 9 });
    expect(entries.map(({ action, actorId }) => [action, actorId])).toEqual([
      ['access_grant', olga],
      ['install', olga],
    ]);
    await team.install(team.first, 'nora');
    expect(await grants.list(TEAM.id)).toMatchObject(owners);
    expect(await installationStore.find(TEAM.id)).toMatchObject({ generation: 2 });
    const nora = team.first.as('nora');
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
    await using team = await startInstalls();
    const pages = [await team.install(team.first)];
    team.slack.faults.failMethod('oauth.v2.access', 'bad_client_secret', 1);
    pages.push(await team.install(team.first));
    const [issued] = team.slack.oauth.listActive(TEAM.id);
    const told = [team.watch.logged(), ...pages.map(({ text }) => text)].join('\n');
    expect(told).toContain('installed');
    for (const secret of [issued?.token ?? '', CLIENT.clientSecret, 'xoxb-'])
      expect(told).not.toContain(secret);
  });
});

/** A browser in which the owner has allowed the install in Slack, and the address that Slack sends it back to. */
async function allow(team: Installs, user = team.first.as('olga').id) {
  const browser = team.browser();
  return { browser, allowed: await browser.allow(await browser.begin(), TEAM.id, user) };
}

describe.concurrent('an install that is not completed', () => {
  const nothingStored = async (team: Installs) => {
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

  it('because its link was opened in another browser, or its state was made up, stores nothing', async () => {
    await using team = await startInstalls();
    const victim = team.browser();
    const { allowed } = await allow(team, team.first.as('nora').id);
    expect((await victim.open(allowed)).text).toContain('This install has expired');
    await victim.begin();
    expect((await victim.open(allowed)).text).toContain('This install has expired');
    const code = new URLSearchParams(allowed.split('?')[1]).get('code');
    const answer = await fetch(`${team.appUrl}/slack/oauth_redirect?code=${code}&state=made-up`, {
      headers: { cookie: 'vps-install=made-up' },
    });
    expect(answer.status).toBe(400);
    await nothingStored(team);
  });

  it('because its link is opened again shows a page that says so, and keeps what was installed, also by an app that was restarted in between', async () => {
    await using team = await startInstalls();
    const { browser, allowed } = await allow(team);
    await team.restart();
    const headers = { cookie: browser.cookie };
    expect((await browser.open(allowed)).status).toBe(200);
    const again = await browser.open(allowed);
    expect(again.status).toBe(400);
    expect(again.text).toContain('This install has expired');
    // A browser that kept the cookie: Slack refuses the code.
    expect((await fetch(`${team.appUrl}${allowed}`, { headers })).status).toBe(502);
    expect(await team.app.ports.installationStore.find(TEAM.id)).toMatchObject({ generation: 1 });
  });

  it('because its state was altered, or signed with a key that the app doesn’t have, stores nothing', async () => {
    await using team = await startInstalls();
    const { browser, allowed } = await allow(team);
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
    const { browser, allowed } = await allow(team);
    system.move(601_000);
    expect((await browser.open(allowed)).text).toContain('This install has expired');
    await nothingStored(team);
  });

  it('because of an error of Slack names that error, and can be repeated, also by the next process', async () => {
    await using team = await startInstalls();
    for (const error of ['invalid_code', 'bad_client_secret', 'bad_redirect_uri']) {
      team.slack.faults.failMethod('oauth.v2.access', error, 1);
      const page = await team.install(team.first);
      expect(page.status).toBe(502);
      expect(page.text).toContain(`Slack didn’t complete the install (<code>${error}</code>)`);
      await nothingStored(team);
    }
    // The code is exchanged, and then nothing more is heard of Slack.
    team.slack.faults.failMethod('auth.test', 'internal_error', 1);
    expect((await team.install(team.first)).status).toBe(502);
    await nothingStored(team);
    await team.restart();
    expect((await team.install(team.first)).status).toBe(200);
  });
});

describe.concurrent('a workspace that is not in ALLOWED_WORKSPACES', () => {
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
    const owner = team.second.as('olga');
    await owner.types('/vps status');
    await owner.sees('This workspace isn’t allowed to use this app');
    expect(await team.app.ports.installations.isServed(SECOND_TEAM.id)).toBe(false);
    // What is stored stays, and so does its token, even if another user tries again.
    expect((await team.install(team.second)).status).toBe(403);
    expect(team.slack.oauth.listActive(SECOND_TEAM.id)).toHaveLength(1);
    environment.ALLOWED_WORKSPACES = '';
    await team.restart();
    await owner.types('/vps status');
    await owner.sees('Unsaved root passwords');
  });
});

describe.concurrent('the path of an install', () => {
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

  it('starts no install on another method, and answers any query with an explanation', async () => {
    await using team = await startInstalls();
    for (const method of ['HEAD', 'POST', 'OPTIONS'])
      for (const path of ['/slack/install', '/slack/oauth_redirect']) {
        const answer = await fetch(`${team.appUrl}${path}`, { method, redirect: 'manual' });
        expect([method, answer.status, answer.headers.get('set-cookie')]).toEqual([method, 405, null]);
      }
    for (const query of ['', '?code=x&state=', '?error=server_error', '?code=x&code=y&state=a&state=b']) {
      const page = await team.browser().open(`/slack/oauth_redirect${query}`);
      expect(page.status, query).toBeGreaterThanOrEqual(400);
      expect(page.status, query).toBeLessThan(503);
      expect(page.text, query).toContain('<h1>');
    }
  });

  it('does not exist where the app serves one workspace', async () => {
    await using team = await startTeam();
    for (const path of ['/slack/install', '/slack/oauth_redirect'])
      expect((await fetch(`${team.appUrl}${path}`)).status).toBe(404);
  });
});

it.concurrent('an app that is not installed yet is ready, calls Slack for nothing but its WebSocket, and answers a command with the way to install it', async () => {
  await using team = await startInstalls();
  const ready = await fetch(`${team.appUrl}/readyz`);
  expect([ready.status, await ready.text()]).toEqual([200, 'ok\n']);
  const asked = team.slack.traffic().map(({ what }) => what);
  expect(asked.filter((what) => what !== 'apps.connections.open')).toEqual([]);
  const owner = team.first.as('olga');
  await owner.types('/vps list');
  await owner.sees('vps isn’t installed in this workspace. Install it, then try again.');
  expect(await team.app.ports.audit.listWorkspaces()).toEqual([]);
});
