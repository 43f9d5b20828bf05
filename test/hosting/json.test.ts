import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NOT_JSON, parseJson, WrittenNumber } from '../../src/hosting/json.ts';
import { startCpuTimer } from '../support/cpu-time.ts';

describe('JSON', () => {
  it('is parsed as JavaScript parses it, whatever its content', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(parseJson(JSON.stringify(JSON.parse(text)))).toEqual(
          JSON.parse(JSON.stringify(JSON.parse(text))),
        );
      }),
    );
  });

  it('keeps every string and every name, even next to a number that JavaScript would alter', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.string()), (fields) => {
        const text = `[${JSON.stringify(fields)},12345678901234567890]`;
        expect(parseJson(text)).toEqual([
          JSON.parse(JSON.stringify(fields)),
          new WrittenNumber('12345678901234567890'),
        ]);
      }),
    );
  });

  it.each([
    '12345678901234567890',
    '9007199254740993',
    '0.10',
    '1.0',
    '-0',
    '1e3',
    '1E400',
    '-1.50e-7',
    '0.1000000000000000055511151231257827',
  ])('does not alter the number %s', (text) => {
    for (const place of [
      text,
      ` ${text} `,
      `[${text}]`,
      `{"a":${text}}`,
      `{"a": ${text} , "b":1}`,
      `[1,\n${text}\n]`,
    ])
      expect(JSON.stringify(parseJson(place))).toBe(
        JSON.stringify(JSON.parse(place.replace(text, `{"text":"${text}"}`))),
      );
  });

  it.each(['0', '7', '-7', '9007199254740991', '0.5', '-0.25', '1e+21'])('reads %s as a number', (text) => {
    expect(parseJson(`[${text}]`)).toEqual([Number(text)]);
  });

  it('is undefined for an empty text, and marked when it is not JSON', () => {
    expect(parseJson(' \n')).toBeUndefined();
    for (const text of [
      '{',
      '[1.50',
      'NaN',
      "{'a':1.50}",
      '01',
      '1.',
      `${'['.repeat(200)}1.50${']'.repeat(200)}`,
    ])
      expect(parseJson(text)).toBe(NOT_JSON);
  });

  it('that names a field twice is ambiguous and not read', () => {
    for (const text of [
      '{"id":7,"id":8}',
      '{"a":{"id":7, "b":"{\\"", "id":7}}',
      '[{"a":1},{"a":1,"a" :2}]',
      '{"id":7,"\\u0069d":8}',
    ])
      expect(parseJson(text)).toBe(NOT_JSON);
    for (const text of [
      '{"a":{"id":7},"id":7}',
      '[{"id":7},{"id":7}]',
      '{"id":"id","b":"\\"id\\":"}',
      '{"a":["id","id"]}',
    ])
      expect(parseJson(text)).toEqual(JSON.parse(text));
  });

  it('of five thousand servers is read within 20 ms', () => {
    const server = (id: number) => ({
      id,
      label: `web-${id}`,
      state: 'running',
      ipv4: '192.0.2.1',
      paid_until: '2026-12-01T00:00:00.000Z',
    });
    const text = JSON.stringify(Array.from({ length: 5_000 }, (_, id) => server(id)));
    const times = Array.from({ length: 30 }, () => {
      const readMs = startCpuTimer();
      parseJson(text);
      return readMs();
    });
    expect(Math.min(...times)).toBeLessThan(20);
  });
});
