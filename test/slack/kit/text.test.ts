import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NASTY_LABELS, NOW } from '../../../src/sandbox/gallery/fixtures/samples.ts';
import { findPings } from '../../../src/sandbox/slack/mentions.ts';
import type { StoredMessage } from '../../../src/sandbox/slack/messages.ts';
import { section } from '../../../src/slack/kit/blocks.ts';
import {
  codeLabel,
  count,
  decodeText,
  escapeText,
  mention,
  plainLabel,
  shorten,
  slackDate,
  utcDate,
} from '../../../src/slack/kit/text.ts';
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
    seen: renderMrkdwn(mrkdwn, { channels: [], now: 0 }),
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
    ['', '`(no label)`'],
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

describe('shortened text', () => {
  it('has at most the given number of characters, and is unchanged if it fits', () => {
    fc.assert(
      fc.property(anything, fc.integer({ min: 1, max: 40 }), (text, most) => {
        const short = shorten(text, most);
        expect(short.length).toBeLessThanOrEqual(most);
        if (text.length <= most) expect(short).toBe(text);
        else expect(text.startsWith(short.slice(0, -1)) && short.endsWith('…')).toBe(true);
      }),
    );
  });

  it('never cuts a character in half', () => {
    const whole = fc.string({ unit: fc.constantFrom('🚀', '𝔵', 'a', 'é') });
    fc.assert(
      fc.property(whole, fc.integer({ min: 1, max: 20 }), (text, most) => {
        expect(shorten(text, most)).not.toMatch(LONE_SURROGATE);
      }),
    );
  });
});

describe('times', () => {
  it('are shown in the reader’s time zone, and in UTC where Slack can’t', () => {
    expect(slackDate(NOW)).toBe('<!date^1790000000^{date_short_pretty} {time}|2026-09-21 14:13 UTC>');
    expect(utcDate(0)).toBe('1970-01-01 00:00 UTC');
  });
});

describe('words in sentences', () => {
  it('are singular or plural, as the number requires', () => {
    expect([count(0, 'server'), count(1, 'server'), count(3000, 'server')]).toEqual([
      '0 servers',
      '1 server',
      '3,000 servers',
    ]);
  });

  it('mention a user by ID', () => {
    expect(mention('U012AB3CD')).toBe('<@U012AB3CD>');
  });
});
