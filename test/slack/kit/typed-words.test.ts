import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  findChannelId,
  findGroupId,
  findUserId,
  parseTyped,
  splitSubcommand,
} from '../../../src/slack/kit/typed-words.ts';
import { anyText } from '../../support/any-text.ts';

const KEYS = ['plan', 'location', 'image', 'label'];

describe('typed words', () => {
  it.each([
    ['web-1 db-1', ['web-1', 'db-1']],
    ['  web-1\t db-1\n', ['web-1', 'db-1']],
    ['"web 1"', ['web 1']],
    ['“web 1” ‘db 1’ „q 1“ «z 1»', ['web 1', 'db 1', 'q 1', 'z 1']],
    ["'web 1'", ['web 1']],
    ['web\u00a01\u202f2', ['web', '1', '2']],
    ["bob's alice's", ["bob's", "alice's"]],
    ['bob’s web', ["bob's", 'web']],
    ['5" disk', ['5"', 'disk']],
    ['""', ['']],
    ['a &lt;b&gt; &amp;amp;', ['a', '<b>', '&amp;']],
    [
      '<@U012AB3CD|ann> <#C012AB3CD|ops> <!subteam^S012AB3CD>',
      ['<@U012AB3CD|ann>', '<#C012AB3CD|ops>', '<!subteam^S012AB3CD>'],
    ],
    ['<http://web-1.example.com|web-1.example.com>', ['web-1.example.com']],
    ['<mailto:a@b.example|a@b.example>', ['a@b.example']],
    ['x-<http://a.example|a.example>-y', ['x-a.example-y']],
    ['plain=small', ['plain=small']],
    ['--force web-1', ['--force', 'web-1']],
    ['a=b=c', ['a=b=c']],
    ['', []],
    ['   ', []],
  ])('of %j are %j', (text, words) => {
    expect(parseTyped(text, KEYS)).toEqual({ words, options: {} });
  });

  it.each([
    ['plan=small', { plan: 'small' }],
    ['PLAN=Small', { plan: 'Small' }],
    ['--plan=small', { plan: 'small' }],
    ['--plan small', { plan: 'small' }],
    ['—plan small', { plan: 'small' }],
    ['–plan=small', { plan: 'small' }],
    ['label="web 1"', { label: 'web 1' }],
    ['label=“web 1”', { label: 'web 1' }],
    ["label='web 1'", { label: 'web 1' }],
    ['--label "web 1"', { label: 'web 1' }],
    ['label=a=b', { label: 'a=b' }],
    ['label=', { label: '' }],
    ['--plan', { plan: '' }],
    ['plan=a plan=b', { plan: 'b' }],
    ['label=<http://web-1.example|web-1.example>', { label: 'web-1.example' }],
    ['label=&lt;x&gt;', { label: '<x>' }],
    ['plan=small location=ams image=debian-13', { plan: 'small', location: 'ams', image: 'debian-13' }],
  ])('%j is %j', (text, options) => {
    expect(parseTyped(text, KEYS)).toEqual({ words: [], options });
  });

  it('separate words and options, in any order', () => {
    expect(parseTyped('web-1 plan=small db-1 --label x', KEYS)).toEqual({
      words: ['web-1', 'db-1'],
      options: { plan: 'small', label: 'x' },
    });
  });

  it('accept only the options of the command', () => {
    expect(parseTyped('plan=small __proto__=x constructor=y').words).toEqual([
      'plan=small',
      '__proto__=x',
      'constructor=y',
    ]);
  });

  it('can always be parsed', () => {
    fc.assert(
      fc.property(anyText(), (text) => {
        const { words, options } = parseTyped(text, KEYS);
        expect([...words, ...Object.values(options)].every((each) => typeof each === 'string')).toBe(true);
        expect(Object.keys(options).every((key) => KEYS.includes(key))).toBe(true);
        expect(typeof splitSubcommand(text).name).toBe('string');
      }),
    );
  });

  it('can be parsed quickly with quotes, links and keys in any order', () => {
    const piece = fc.constantFrom(
      '"',
      "'",
      '“',
      '’',
      '<',
      '>',
      '|',
      '=',
      '--',
      '—',
      ' ',
      'plan',
      'http://',
      '@U1',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        expect(() => parseTyped(pieces.join(''), KEYS)).not.toThrow();
      }),
    );
    const startedAt = performance.now();
    for (const each of ['"', "'", '<', '<a', '“', '=', "a='", 'plan="', '<http://'])
      parseTyped(each.repeat(4000).slice(0, 4000), KEYS);
    expect(performance.now() - startedAt).toBeLessThan(2000);
  });

  it('stay complete without quotes, spaces and Slack’s own markup', () => {
    const simple = fc.string({
      unit: fc.constantFrom(..."abcXYZ0129-_.,:;/\\+*#@!?()[]{}=^~`|%$é日🚀'"),
      minLength: 1,
    });
    const starting = simple.filter((word) => !/(^|=)'/.test(word));
    fc.assert(
      fc.property(fc.array(starting, { maxLength: 6 }), (words) => {
        expect(parseTyped(words.join(' ')).words).toEqual(words);
      }),
    );
  });

  it('preserve whatever is put in double quotes', () => {
    const quoted = fc
      .string()
      .filter((text) => !/["“”„‟«»‘’‚‛&<>\u2013\u2014]/.test(text) && !/[\s]/.test(text.replaceAll(' ', '')));
    fc.assert(
      fc.property(quoted, (text) => {
        expect(parseTyped(`label="${text}"`, KEYS).options).toEqual({ label: text });
      }),
    );
  });
});

describe('the subcommand', () => {
  it.each([
    ['list', 'list', ''],
    ['  LIST  web-1 ', 'list', 'web-1 '],
    ['Reboot\u00a0web-1', 'reboot', 'web-1'],
    ['Ｒｅｂｏｏｔ, web-1', 'reboot', 'web-1'],
    ['`status`', 'status', ''],
    ['list.', 'list', ''],
    ['create label="web 1"', 'create', 'label="web 1"'],
    ['', '', ''],
    ['   ', '', ''],
    ['show a\nb', 'show', 'a\nb'],
  ])('of %j is %j, and the rest is %j', (text, name, rest) => {
    expect(splitSubcommand(text)).toEqual({ name, rest });
  });
});

describe('a mention', () => {
  it.each(['<@U012AB3CD>', '<@U012AB3CD|ann>', '<@W012AB3CD|>'])('%s names a person', (word) => {
    expect(findUserId(word)).toMatch(/^[UW]012AB3CD$/);
    expect(findChannelId(word) ?? findGroupId(word)).toBeUndefined();
  });

  it.each([
    '@ann',
    'U012AB3CD',
    '<@C012AB3CD>',
    '<@U012>x',
    '<@U012AB3CD',
    '<!channel>',
    '',
  ])('%j names no user', (word) => {
    expect(findUserId(word)).toBeUndefined();
  });

  it('of a channel or a group is distinguished', () => {
    expect(findChannelId('<#C012AB3CD|ops>')).toBe('C012AB3CD');
    expect(findChannelId('<#C012AB3CD|>')).toBe('C012AB3CD');
    expect(findGroupId('<!subteam^S012AB3CD|@ops>')).toBe('S012AB3CD');
    expect(findGroupId('<!here>')).toBeUndefined();
  });
});
