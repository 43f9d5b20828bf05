import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NASTY_LABELS } from '../../../src/sandbox/gallery/fixtures/samples.ts';
import { findPings } from '../../../src/sandbox/slack/mentions.ts';
import type { StoredMessage } from '../../../src/sandbox/slack/messages.ts';
import { section } from '../../../src/slack/kit/blocks.ts';
import {
  findChannelId,
  findGroupId,
  findUserId,
  parseTyped,
  splitSubcommand,
} from '../../../src/slack/kit/command.ts';
import { codeLabel, decodeText, escapeText, plainLabel, shorten } from '../../../src/slack/kit/text.ts';
import { anyText } from '../../support/any-text.ts';
import { renderMrkdwn } from '../../support/slack/mrkdwn.ts';

const anything = anyText();
const hostile = fc
  .array(
    fc.constantFrom('<!channel>', '<@U1>', '`', '```', '*', '_', '&lt;', '<', '>', '|', '\n', 'x', '\u202e'),
  )
  .map((parts) => parts.join(''));
const labels = fc.oneof(anything, hostile, fc.constantFrom(...NASTY_LABELS));

/** What a reader sees of it, and whom it pings, by the sandbox's Slack. */
function read(mrkdwn: string) {
  const blocks = [section(mrkdwn)] as unknown as StoredMessage['blocks'];
  return {
    seen: renderMrkdwn(mrkdwn, { channels: [] }),
    pings: findPings({ text: mrkdwn, blocks } as StoredMessage),
  };
}

const LONE_SURROGATE = /\p{Surrogate}/u;

describe('escaped text', () => {
  it('reads as it was typed, and pings no one', () => {
    expect(escapeText('<!channel> & <@U1>')).toBe('&lt;!channel&gt; &amp; &lt;@U1&gt;');
    expect(read(escapeText('<!channel> & <@U1>'))).toEqual({ seen: '<!channel> & <@U1>', pings: [] });
  });

  it('is restored by decoding', () => {
    fc.assert(
      fc.property(fc.oneof(anything, hostile), (text) => {
        expect(decodeText(escapeText(text))).toBe(text);
        expect(escapeText(text)).not.toMatch(/[<>]/);
      }),
    );
  });
});

describe('a label in a message', () => {
  it('formats nothing, links nothing and pings no one', () => {
    fc.assert(
      fc.property(labels, (label) => {
        const { seen, pings } = read(codeLabel(label));
        expect(pings).toEqual([]);
        expect(seen).toBe(plainLabel(label, 80).replaceAll('`', 'ˋ'));
      }),
      { numRuns: 300 },
    );
  });

  it.each([
    ['<!channel> *x*', '`&lt;!channel&gt; *x*`'],
    ['`rm -rf`', '`ˋrm -rfˋ`'],
    ['a\nb\r\n> c', '`a b &gt; c`'],
    [' \n ', '`(no label)`'],
    ['مرحبا', '`\u2068مرحبا\u2069`'],
    [`${'x'.repeat(300)}-12`, `\`${'x'.repeat(46)}…${'x'.repeat(28)}-12\``],
  ])('%j is written as %j', (label, written) => {
    expect(codeLabel(label)).toBe(written);
  });

  it('keeps its beginning and its end, in which long labels differ', () => {
    const name = 'production-eu-west-1-checkout-service-replica';
    expect(plainLabel(`${name}-1`, 40)).toBe('production-eu-west-1-c…rvice-replica-1');
    expect(plainLabel(`${name}-1`, 40)).not.toBe(plainLabel(`${name}-2`, 40));
    const emoji = '🚀'.repeat(60);
    for (let most = 4; most < 60; most++) expect(plainLabel(emoji, most)).not.toMatch(LONE_SURROGATE);
  });

  it('is one line of limited length that never reverses the direction of the text around it', () => {
    fc.assert(
      fc.property(labels, fc.integer({ min: 3, max: 200 }), (label, most) => {
        const line = plainLabel(label, most);
        const inside = line.replace(/^\u2068(.*)\u2069$/s, '$1');
        expect(line.length).toBeLessThanOrEqual(most);
        expect(inside.trim()).not.toBe('');
        expect(inside).not.toMatch(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u);
      }),
    );
  });
});

it('shortened text has at most the given number of characters, and is unchanged if it fits', () => {
  fc.assert(
    fc.property(anything, fc.integer({ min: 1, max: 40 }), (text, most) => {
      const short = shorten(text, most);
      expect(short.length).toBeLessThanOrEqual(most);
      if (text.length <= most) expect(short).toBe(text);
      else expect(text.startsWith(short.slice(0, -1)) && short.endsWith('…')).toBe(true);
    }),
  );
});

const KEYS = ['plan', 'location', 'image', 'label'];

describe('typed words', () => {
  it.each([
    ['web-1 db-1', ['web-1', 'db-1']],
    ['"web 1"', ['web 1']],
    ['“web 1” ‘db 1’ „q 1“ «z 1»', ['web 1', 'db 1', 'q 1', 'z 1']],
    ['web\u00a01\u202f2', ['web', '1', '2']],
    ['bob’s web', ["bob's", 'web']],
    ['5" disk', ['5"', 'disk']],
    ['""', ['']],
    ['a &lt;b&gt; &amp;amp;', ['a', '<b>', '&amp;']],
    [
      '<@U012AB3CD|ann> <#C012AB3CD|ops> <!subteam^S012AB3CD>',
      ['<@U012AB3CD|ann>', '<#C012AB3CD|ops>', '<!subteam^S012AB3CD>'],
    ],
    ['<http://web-1.example.com|web-1.example.com>', ['web-1.example.com']],
    ['x-<http://a.example|a.example>-y', ['x-a.example-y']],
    ['a=b=c', ['a=b=c']],
    ['   ', []],
  ])('of %j are %j', (text, words) => {
    expect(parseTyped(text, KEYS)).toEqual({ words, options: {} });
  });

  it.each([
    ['--plan=small', { plan: 'small' }],
    ['--plan small', { plan: 'small' }],
    ['—plan small', { plan: 'small' }],
    ['label="web 1"', { label: 'web 1' }],
    ['label=“web 1”', { label: 'web 1' }],
    ['label=a=b', { label: 'a=b' }],
    ['--plan', { plan: '' }],
    ['plan=a plan=b', { plan: 'b' }],
    ['label=<http://web-1.example|web-1.example>', { label: 'web-1.example' }],
  ])('%j is %j', (text, options) => {
    expect(parseTyped(text, KEYS)).toEqual({ words: [], options });
  });

  it('accept only the options of the command', () => {
    expect(parseTyped('plan=small __proto__=x constructor=y').words).toEqual([
      'plan=small',
      '__proto__=x',
      'constructor=y',
    ]);
  });
});

it.each([
  ['  LIST  web-1 ', 'list', 'web-1 '],
  ['Reboot\u00a0web-1', 'reboot', 'web-1'],
  ['Ｒｅｂｏｏｔ, web-1', 'reboot', 'web-1'],
  ['`status`', 'status', ''],
  ['', '', ''],
  ['show a\nb', 'show', 'a\nb'],
])('the subcommand of %j is %j, and the rest is %j', (text, name, rest) => {
  expect(splitSubcommand(text)).toEqual({ name, rest });
});

describe('a mention', () => {
  it.each(['<@U012AB3CD>', '<@U012AB3CD|ann>', '<@W012AB3CD|>'])('%s names a person', (word) => {
    expect(findUserId(word)).toMatch(/^[UW]012AB3CD$/);
    expect(findChannelId(word) ?? findGroupId(word)).toBeUndefined();
  });

  it.each(['@ann', 'U012AB3CD', '<@C012AB3CD>', '<@U012AB3CD', ''])('%j names no user', (word) => {
    expect(findUserId(word)).toBeUndefined();
  });
});
