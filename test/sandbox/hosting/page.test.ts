import { request as httpRequest } from 'node:http';
import { describe, expect, test } from 'vitest';
import { largeCatalog } from '../../../src/sandbox/hosting/catalog.ts';
import { html } from '../../../src/sandbox/hosting/page/views.ts';
import { type Caller, startCaller } from './caller.ts';

const pageOf = async ({ hosting, account }: Caller) => (await fetch(hosting.pageUrlOf(account))).text();

/** Posts a form as the page itself would, and shows the page it leads to. */
async function post({ hosting, account }: Caller, path: string, fields: Record<string, string> = {}) {
  const response = await fetch(`${hosting.pageUrlOf(account)}/${path}`, {
    method: 'POST',
    headers: { origin: `http://127.0.0.1:${hosting.port}` },
    body: new URLSearchParams(fields),
    redirect: 'manual',
  });
  const location = response.headers.get('location') ?? '';
  const page = await fetch(new URL(location, hosting.pageUrl));
  return { status: response.status, location, url: page.url, text: await page.text() };
}

/** A request with any headers, `Host` among them, which fetch would not let through. */
function knock(url: string, method: string, headers: Record<string, string>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { method, headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    request.on('error', reject);
    request.end(method === 'POST' ? 'amount=10' : undefined);
  });
}

describe('the account page', () => {
  test('shows balance, keys, servers, money, faults, prices and requests, all escaped', async () => {
    const caller = await startCaller();
    await caller.create({ label: '<script>alert(1)</script>' });
    caller.hosting.faults.add({ on: 'renew', kind: 'lost_after', times: 'always' });
    const page = await pageOf(caller);
    for (const words of [
      '94.10',
      `…${caller.key.slice(-4)}`,
      'creating',
      'lost_after',
      '11.90',
      'POST /v1/servers',
    ])
      expect(page).toContain(words);
    expect(page).not.toContain('<script');
    expect(page).not.toContain(caller.key);
  });

  test('lists accounts and opens another, which is closed until its first top-up', async () => {
    const caller = await startCaller();
    const opened = await fetch(`${caller.hosting.pageUrl}open`, {
      method: 'POST',
      headers: { origin: `http://127.0.0.1:${caller.hosting.port}` },
      body: new URLSearchParams({ name: 'Second' }),
    });
    expect(await opened.text()).toContain('The API opens with the first top-up');
    expect(await (await fetch(caller.hosting.pageUrl)).text()).toContain('Second');
    const second = caller.hosting.accounts.list()[1];
    if (!second) throw new Error('No second account');
    const tooEarly = await post({ ...caller, account: second }, 'keys');
    expect(tooEarly.text).toContain('Top up first');
    expect(caller.hosting.accounts.listKeys(second)).toEqual([]);
  });

  test.each([
    ['50', 150_00],
    ['0.05', 100_05],
    ['7,5', 107_50],
  ])('tops up by %s', async (amount, balanceMinor) => {
    const caller = await startCaller();
    expect((await post(caller, 'top-up', { amount })).status).toBe(303);
    expect(caller.hosting.balanceOf(caller.account)).toBe(balanceMinor);
  });

  test.each(['', '0', '-5', '1.234', 'ten', '99999999'])('says so when "%s" is no top-up', async (amount) => {
    const caller = await startCaller();
    expect((await post(caller, 'top-up', { amount })).text).toContain('role="alert"');
    expect(caller.hosting.balanceOf(caller.account)).toBe(100_00);
  });

  test('shows a new key once, and a revoked one no longer opens the API', async () => {
    const caller = await startCaller();
    const shown = await post(caller, 'keys');
    const key = /hk_[\w-]+/.exec(shown.text)?.[0] ?? '';
    expect((await caller.call('GET', '/catalog', undefined, `Bearer ${key}`)).status).toBe(200);
    expect(shown.location).not.toContain(key);
    expect(await (await fetch(shown.url)).text()).not.toContain(key);
    const id = caller.hosting.accounts.listKeys(caller.account).at(-1)?.id;
    await post(caller, `keys/${id}/revoke`);
    expect((await caller.call('GET', '/catalog', undefined, `Bearer ${key}`)).status).toBe(401);
  });

  test('switches faults on and off', async () => {
    const caller = await startCaller();
    const fields = { on: 'create', kind: 'error:limit', times: 'always', seconds: '1' };
    await post(caller, 'faults', fields);
    await post(caller, 'faults', { on: 'any', kind: 'slow', times: '2', seconds: '1.5' });
    expect(caller.hosting.faults.list()).toMatchObject([
      { left: Number.POSITIVE_INFINITY, rule: { on: 'create', kind: 'error', code: 'limit' } },
      { left: 2, rule: { on: 'any', kind: 'slow', delayMs: 1500 } },
    ]);
    for (const { id } of caller.hosting.faults.list()) await post(caller, `faults/${id}/remove`);
    expect(caller.hosting.faults.list()).toEqual([]);
    const wrong = await post(caller, 'faults', { ...fields, on: 'renew', kind: 'checking_completes' });
    expect(wrong.text).toContain('only create can be');
    expect((await post(caller, 'faults', { kind: 'toString' })).text).toContain('no such fault');
  });

  test('changes a price and moves time', async () => {
    const caller = await startCaller();
    await post(caller, 'prices', { plan: 'small', price: '9.5' });
    expect(caller.hosting.prices.priceMinorOf('small')).toBe(950);
    const beforeMs = caller.hosting.clock.now();
    for (const step of ['hour', 'day', 'month']) await post(caller, 'time', { step });
    expect(new Date(caller.hosting.clock.now()).toISOString()).toBe('2026-02-16T11:00:00.000Z');
    expect((await post(caller, 'time', { step: 'back' })).text).toContain('role="alert"');
    expect(caller.hosting.clock.now()).toBeGreaterThan(beforeMs);
  });

  test('stays short with three thousand servers and 150 plans', async () => {
    const caller = await startCaller({ catalog: largeCatalog() });
    caller.hosting.seedServers(caller.account, 3000);
    const page = await pageOf(caller);
    expect(page).toContain('and 2900 more');
    expect(page.length).toBeLessThan(100_000);
  });

  test.each(['account/99', 'account/1/x', 'account/x'])('has no page at %s', async (path) => {
    const { hosting } = await startCaller();
    expect((await fetch(`http://127.0.0.1:${hosting.port}/${path}`)).status).toBe(404);
  });

  test('is what the bare address leads to', async () => {
    const { hosting } = await startCaller();
    expect((await fetch(`http://127.0.0.1:${hosting.port}/`)).url).toBe(hosting.pageUrl);
  });
});

describe('against other pages in the same browser', () => {
  const own = (port: number) => `http://127.0.0.1:${port}`;

  test.each([
    ['no word of where it came from', {}],
    ['another origin', { origin: 'http://evil.example' }],
    ['another port', { origin: 'http://127.0.0.1:1' }],
    ['a hidden origin', { origin: 'null' }],
    ['a cross-site form', { 'sec-fetch-site': 'cross-site' }],
    ['a same-site form of another port', { 'sec-fetch-site': 'same-site' }],
  ])('refuses a form with %s', async (_what, headers) => {
    const { hosting, account } = await startCaller();
    expect(await knock(`${hosting.pageUrlOf(account)}/top-up`, 'POST', headers)).toBe(403);
    expect(hosting.balanceOf(account)).toBe(100_00);
  });

  test('refuses a form whose headers disagree', async () => {
    const { hosting, account } = await startCaller();
    const headers = { origin: own(hosting.port), 'sec-fetch-site': 'cross-site' };
    expect(await knock(`${hosting.pageUrlOf(account)}/top-up`, 'POST', headers)).toBe(403);
  });

  test('takes its own form', async () => {
    const { hosting, account } = await startCaller();
    const headers = { origin: own(hosting.port), 'sec-fetch-site': 'same-origin' };
    expect(await knock(`${hosting.pageUrlOf(account)}/top-up`, 'POST', headers)).toBe(303);
    expect(hosting.balanceOf(account)).toBe(110_00);
  });

  test.each([
    'evil.example',
    'evil.example:80',
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    '10.0.0.1',
  ])('refuses to be called %s', async (host) => {
    const { hosting, account } = await startCaller();
    const url = hosting.pageUrlOf(account);
    expect(await knock(url, 'GET', { host })).toBe(403);
    expect(await knock(`${url}/top-up`, 'POST', { host, origin: `http://${host}` })).toBe(403);
    expect(hosting.balanceOf(account)).toBe(100_00);
  });

  test('may not be framed, and runs no script', async () => {
    const { hosting } = await startCaller();
    const policy = (await fetch(hosting.pageUrl)).headers.get('content-security-policy');
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
  });

  test('refuses a form of megabytes and any other method', async () => {
    const { hosting, account } = await startCaller();
    const headers = { origin: own(hosting.port) };
    const body = 'x'.repeat(200_000);
    const answer = await fetch(`${hosting.pageUrlOf(account)}/top-up`, { method: 'POST', headers, body });
    expect(answer.status).toBe(400);
    expect((await fetch(hosting.pageUrl, { method: 'DELETE' })).status).toBe(405);
  });
});

describe('the words between the tags', () => {
  test('are escaped unless they are HTML of ours', () => {
    const cell = html`<td>${'<&"\'>'}</td>`;
    expect(html`<tr>${[cell, cell]}${undefined}${false}${7}</tr>`.text).toBe(
      '<tr><td>&#60;&#38;&#34;&#39;&#62;</td><td>&#60;&#38;&#34;&#39;&#62;</td>7</tr>',
    );
  });
});
