import { describe, expect, test } from 'vitest';
import { type AnswerStyleChange, DEFAULT_STYLE, DIALECT } from '../../../src/sandbox/hosting/answers.ts';
import { parseOptions } from '../../../src/sandbox/hosting/options.ts';
import { type Caller, field, idOf, startCaller } from './caller.ts';

/** Posts a form of the account page as the page itself would. */
const post = ({ hosting, account }: Caller, path: string, fields: Record<string, string>) =>
  fetch(`${hosting.pageUrlOf(account)}/${path}`, {
    method: 'POST',
    headers: { origin: `http://127.0.0.1:${hosting.port}` },
    body: new URLSearchParams(fields),
    redirect: 'manual',
  });

const speaking = (answers: AnswerStyleChange) => startCaller({ answers });

describe('a dialect', () => {
  test('is the documented one unless said otherwise: the first of every trait', () => {
    for (const [trait, spoken] of Object.entries(DIALECT))
      expect([trait, Reflect.get(DEFAULT_STYLE, trait)]).toEqual([trait, spoken[0]]);
  });

  test('can be changed while the service runs, and a word that it does not know is refused', async () => {
    const { hosting, call } = await startCaller();
    hosting.setAnswers({ listBeside: 'unknown' });
    expect((await call('GET', '/servers')).body).toEqual({ servers: [], foo: { bar: 1 } });
    const wrong = { listBeside: 'nonsense' } as unknown as AnswerStyleChange;
    expect(() => hosting.setAnswers(wrong)).toThrow('listBeside is one of');
    expect(() => hosting.setAnswers({ pageSize: 0 })).toThrow(RangeError);
  });

  test('can be chosen on the account page', async () => {
    const caller = await startCaller();
    const { hosting, account } = caller;
    await post(caller, 'answers', { paging: 'link', pageSize: '7' });
    expect(hosting.style).toMatchObject({ paging: 'link', pageSize: 7, errorShape: 'code' });
    await post(caller, 'answers', { paging: 'sideways' });
    expect(hosting.style.paging).toBe('link');
    expect(await (await fetch(hosting.pageUrlOf(account))).text()).toContain(
      '<option selected>link</option>',
    );
  });

  test('can be chosen on the command line, beside limits', () => {
    expect(
      parseOptions([
        '--paging',
        'next',
        '--page-size',
        '3',
        '--prices',
        'in_usd',
        '--rate',
        '10',
        '--max-servers',
        '2',
      ]),
    ).toEqual({
      port: 4100,
      answers: { paging: 'next', pageSize: 3, prices: 'in_usd' },
      requestsPerMinute: 10,
      maxServers: 2,
    });
    expect(parseOptions(['--help'])).toBeUndefined();
    expect(() => parseOptions(['--rate', '-1'])).toThrow();
    expect(() => parseOptions(['--error-shape', 'x'])).toThrow('error-shape is one of');
  });
});

describe('a list in pages', () => {
  test.each(
    DIALECT.paging.filter((paging) => paging !== 'none'),
  )('%s: shows a page and what it says of the next', async (paging) => {
    const { hosting, account, key } = await speaking({ paging, pageSize: 2 });
    hosting.seedServers(account, 3);
    const headers = { authorization: `Bearer ${key}` };
    const first = await fetch(`${hosting.baseUrl}/servers`, { headers });
    const second = await fetch(`${hosting.baseUrl}/servers?page=2`, { headers });
    const [one, two] = [await first.text(), await second.text()];
    expect([one.match(/"label"/g)?.length, two.match(/"label"/g)?.length]).toEqual([2, 1]);
    expect(one + first.status + String(first.headers.get('link'))).not.toBe(
      two + second.status + String(second.headers.get('link')),
    );
    if (paging === 'next') expect(JSON.parse(one).next).toBe(`${hosting.baseUrl}/servers?page=2`);
    if (paging === 'link') expect(first.headers.get('link')).toContain('rel="next"');
    if (paging === 'partial') expect([first.status, second.status]).toEqual([206, 200]);
  });
});

describe('an answer about one server', () => {
  test('of a deleted one can say another state, and a list can go on showing it', async () => {
    const { create, call } = await speaking({ deletedState: 'deleting', listsDeleted: 'yes' });
    const id = idOf(await create());
    expect(field(await call('DELETE', `/servers/${id}`), 'state')).toBe('deleting');
    expect((await call('GET', '/servers')).body).toMatchObject([{ id, state: 'deleted' }]);
    expect((await call('DELETE', `/servers/${id}`)).status).toBe(404);
  });
});

describe('an error', () => {
  test('can come inside 2xx, after the work or instead of it', async () => {
    const { create, hosting, account } = await startCaller();
    hosting.faults.add({ on: 'create', kind: 'error_beside' });
    hosting.faults.add({ on: 'create', kind: 'error_in_2xx', code: 'limit' });
    expect(await create()).toMatchObject({
      status: 200,
      body: { id: expect.any(Number), error: { code: 'bad_request' } },
    });
    expect(hosting.charges(account)).toHaveLength(1);
    expect(await create()).toEqual({ status: 200, body: { success: false, error: 'limit' } });
    expect(hosting.charges(account)).toHaveLength(1);
  });

  test('checking on the page keeps to the seconds that were entered', async () => {
    const caller = await startCaller();
    const { create, hosting, account } = caller;
    await post(caller, 'faults', { on: 'create', kind: 'error:checking', times: '1', seconds: '5' });
    expect((await create()).body).toEqual({ code: 'checking' });
    hosting.clock.advance(4_999);
    expect(hosting.refunds(account)).toEqual([]);
    hosting.clock.advance(1);
    expect(hosting.refunds(account)).toHaveLength(1);
  });
});
