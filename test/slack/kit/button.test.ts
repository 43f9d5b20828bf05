import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { findMessageFaults } from '../../../src/sandbox/slack/block-kit/find-faults.ts';
import { confirmation, option } from '../../../src/slack/kit/blocks.ts';
import { defineButton, defineChoice } from '../../../src/slack/kit/button.ts';
import type { SlackRequest } from '../../../src/slack/request.ts';

const request = {} as SlackRequest;
const order = defineButton(
  'order',
  z.object({ label: z.string(), page: z.number().int().min(0), plan: z.string().exactOptional() }),
);

/** Presses a button that carries this value, and returns what its handler was given. */
async function press(value: string): Promise<unknown> {
  const read: unknown[] = [];
  await order.on(async (given) => void read.push(given)).run(value, request);
  return read[0];
}

describe('a button', () => {
  it('reads back what was written into it', async () => {
    const values = fc.record(
      { label: fc.string({ unit: 'grapheme' }), page: fc.nat(), plan: fc.string() },
      { requiredKeys: ['label', 'page'] },
    );
    await fc.assert(
      fc.asyncProperty(values, async (value) => {
        expect(await press(order.element('Go', value).value ?? '')).toEqual(value);
      }),
    );
  });

  it.each([
    ['', 'nothing'],
    ['{', 'no JSON'],
    ['null', 'null'],
    ['42', 'a number'],
    ['{"label":"x"}', 'a missing part'],
    ['{"label":7,"page":0}', 'a part of another type'],
    ['{"label":"x","page":-1}', 'a part out of range'],
    ['{"label":"x","page":1.5}', 'half a page'],
    ['["x",0]', 'a list'],
  ])('with the value %j is refused and does nothing: %s', async (value) => {
    let isRun = false;
    const handler = order.on(async () => {
      isRun = true;
    });
    await expect(handler.run(value, request)).rejects.toMatchObject({ code: 'unreadable_press' });
    expect(isRun).toBe(false);
  });

  it('drops fields that the app did not write', async () => {
    expect(await press('{"label":"x","page":0,"role":"owner"}')).toEqual({ label: 'x', page: 0 });
  });

  it('stays within Slack’s limits, whatever its text', () => {
    const words = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 400 });
    fc.assert(
      fc.property(words, (text) => {
        const confirm = confirmation({ title: text, text, confirm: text, isDangerous: true });
        const look = { label: text, style: 'danger', confirm } as const;
        const element = order.element(text, { label: 'x', page: 0 }, look);
        expect(findMessageFaults({ text: 'x', blocks: [{ type: 'actions', elements: [element] }] })).toEqual(
          [],
        );
      }),
    );
  });
});

describe('a menu in a message', () => {
  const choice = defineChoice('pick');

  it('passes on the value that was chosen', async () => {
    const chosen: string[] = [];
    const handler = choice.on(async (value) => void chosen.push(value));
    expect(handler.id).toBe(choice.menu('Pick', [option('a', '1')]).action_id);
    await handler.run('1', request);
    expect(chosen).toEqual(['1']);
  });

  it('lists its choices, or loads them while the user types', () => {
    expect(choice.menu('Pick', [option('a', '1')])).toMatchObject({
      type: 'static_select',
      options: [{ value: '1' }],
    });
    expect(choice.typeAhead('Pick')).toMatchObject({ type: 'external_select', min_query_length: 0 });
  });
});
