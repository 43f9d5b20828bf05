import { describe, expect, it } from 'vitest';
import { HostingError, Refusal, type RefusalCode, type RefusalDetails } from '../../src/core/errors.ts';
import { outcomeWords } from '../../src/purchases/outcomes.ts';
import { operationsOf } from '../../src/sandbox/gallery/fixtures/purchases.ts';
import { HOSTING_CODES, REFUSAL_CODES, sampleDetails } from '../../src/sandbox/gallery/fixtures/reasons.ts';
import { makeOperation, NASTY_LABELS, NOW } from '../../src/sandbox/gallery/fixtures/samples.ts';
import { wordsOfError, wordsOfHosting, wordsOfRefusal } from '../../src/words.ts';

const words = (code: RefusalCode, label = 'web-1', currency = 'EUR') =>
  wordsOfRefusal(code, sampleDetails(label)[code], currency);

const everyWord = [
  ...REFUSAL_CODES.map((code) => [code, words(code)] as const),
  ...HOSTING_CODES.map((code) => [code, wordsOfHosting({ code })] as const),
];

/** Slack writes times in marks of its own. */
/** People that we mention by id, as the words of the app do. */
const withoutIds = (text: string) => text.replaceAll(/<@U0OWNER0001>/g, '');
const withoutDates = (text: string) => text.replace(/<!date\^\d+\^[^>]*>/g, '');

/** The refusals that may end a confirmed purchase. */
const MONEY_CODES = [
  'price_moved',
  'already_renewed',
  'paid_until_unknown',
  'create_in_doubt',
  'create_in_doubt_elsewhere',
  'label_taken',
  'renewed_elsewhere',
  'stale_confirmation',
  'waited_too_long',
  'shutting_down',
] as const;

const SAYS_WHERE_THE_MONEY_IS =
  /nothing (more |else )?(was|is) (charged|ordered|sent|paid)|charge is back|return the charge|charged (once|twice)|back on the balance/i;

describe('the words for an error', () => {
  it.each(everyWord)('%s are a sentence for users', (_code, text) => {
    expect(text).toMatch(/^[A-Z`\d]/);
    // What is to be typed may come last, in its own marks.
    expect(text).toMatch(/([.?]|`)$/);
    expect(text.length).toBeGreaterThan(20);
    expect(text.length).toBeLessThan(500);
  });

  it.each(everyWord)('%s contain no stack, no code and no `undefined`', (code, text) => {
    expect(text).not.toMatch(/undefined|null|NaN|\[object|\bat .*:\d+:\d+|Error:|0x/);
    expect(withoutDates(text)).not.toMatch(/\b[a-z]+_[a-z_]+\b/);
    expect(text).not.toContain(`${code}:`);
  });

  it.each(REFUSAL_CODES)('%s work without the optional details', (code) => {
    const details: RefusalDetails[typeof code] = { ...sampleDetails('web-1')[code] };
    for (const name of ['nearest', 'held', 'owners', 'by']) Reflect.deleteProperty(details, name);
    expect(wordsOfRefusal(code, details, '')).not.toMatch(/undefined|\?\?| {2}/);
  });

  it.each(REFUSAL_CODES)('%s never let a label ping or link', (code) => {
    for (const label of NASTY_LABELS) {
      expect(withoutIds(withoutDates(words(code, label)))).not.toMatch(/[<>]/);
    }
  });

  it('for an undocumented API error quote the error', () => {
    const error = new HostingError('unknown_code', 'maybe', { unknownCode: '<!here> maintenance' });
    expect(wordsOfError(error, '')).toMatch(/unknown error.*`&lt;!here&gt; maintenance`/);
  });

  it('name the currency only if the operator set one', () => {
    expect(words('price_moved', 'x', 'EUR')).toContain('from 5.90 EUR/month to 6.90 EUR/month');
    expect(words('price_moved', 'x', '')).toContain('from 5.90/month to 6.90/month');
  });

  it('say what to do', () => {
    expect(wordsOfError(new Refusal('unknown_server', { typed: 'wbe', nearest: 'web' }), '')).toBe(
      'No server matches `wbe`. Did you mean `web`?',
    );
    expect(words('role_needed')).toMatch(/\*manager\*.*you’re a \*viewer\*.*<@U0OWNER0001> can grant it/);
    expect(words('no_api_key')).toContain('/vps connect');
    expect(wordsOfHosting({ code: 'not_enough_balance' })).toContain('Top it up');
    expect(wordsOfHosting({ code: 'not_allowed' })).toContain('first top-up');
  });
});

describe('money', () => {
  it.each(MONEY_CODES)('is said not to have been charged after %s', (code) => {
    expect(words(code)).toMatch(SAYS_WHERE_THE_MONEY_IS);
  });

  it.each([
    'not_created',
    'checking',
    'not_sent',
  ] as const)('is accounted for in the words for the hosting API’s %s', (code) => {
    expect(wordsOfHosting({ code })).toMatch(SAYS_WHERE_THE_MONEY_IS);
  });

  it('is accounted for in the words for every refused or unconfirmed purchase', () => {
    const silent = operationsOf('web-1')
      .filter(({ state }) => state === 'refused' || state === 'unconfirmed')
      .map((operation) => outcomeWords(operation, { currency: 'EUR' }))
      .filter((text) => !/charge|back on the balance|twice|nothing was sent/i.test(text));
    expect(silent).toEqual([]);
  });

  it('is never said not to be charged while an order is unconfirmed', () => {
    const unsure = operationsOf('web-1').filter(({ state }) => state === 'unconfirmed' || state === 'sent');
    for (const operation of unsure)
      expect(outcomeWords(operation, { currency: '' })).not.toMatch(
        /nothing was charged|(was|is being) created \(/i,
      );
  });

  it('is said to have been charged once if the password was lost', () => {
    const found = makeOperation({ state: 'settled', serverId: 42, hasPassword: false, sentAt: NOW });
    expect(outcomeWords(found, { currency: '' })).toMatch(/can’t show it again.*charged once/i);
  });
});
