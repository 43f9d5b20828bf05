import type { ModalView } from '@slack/types';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { findMessageFaults, findViewFaults } from '../../../src/sandbox/slack/block-kit/find-faults.ts';
import { confirmation, option } from '../../../src/slack/kit/blocks.ts';
import { defineButton } from '../../../src/slack/kit/button.ts';
import { readEntered } from '../../../src/slack/kit/fields.ts';
import { noticeView } from '../../../src/slack/kit/form.ts';
import { defineModal, findOrigin, type Submission, submittedView } from '../../../src/slack/kit/modal.ts';
import type { SlackRequest } from '../../../src/slack/request.ts';

const request = { authorize: async () => undefined } as unknown as SlackRequest;
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
  it.each([
    ['', 'nothing'],
    ['{', 'no JSON'],
    ['{"label":"x"}', 'a missing part'],
    ['{"label":7,"page":0}', 'a part of another type'],
    ['{"label":"x","page":-1}', 'a part out of range'],
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

const renaming = { name: 'settings_change', needs: 'anyone', effect: 'reads' } as const;
const origin = { formId: '01K5ZZZZZZZZZZZZZZZZZZZZZZ', channelId: 'C1' };
const rename = defineModal(
  'rename',
  z.object({ serverId: z.number().int(), note: z.string().exactOptional() }),
  z.object({
    label: z.string('Give it a label').trim().min(3, 'Three letters at least'),
    color: z.enum(['red', 'green'], 'Choose a color'),
  }),
);
type Renaming = Submission<{ serverId: number; note?: string }, { label: string; color: 'red' | 'green' }>;

function view(metadata: Renaming['metadata'], from = origin): ModalView {
  const options = [option('Red', 'red'), option('Green', 'green')];
  return rename.view({
    origin: from,
    metadata,
    title: 'Rename',
    submit: 'Rename',
    blocks: [
      rename.textField('label', { label: 'Label', initial: 'web-1', hint: 'Its name', maxLength: 100 }),
      rename.selectField('color', { label: 'Colour', options, initial: 'green', placeholder: 'Choose' }),
    ],
  });
}

/** Slack's payload for the view with these fields filled; text fields have a value, menus a chosen option. */
function submit(shown: ModalView, label: string | null, color: string | null) {
  const state = {
    values: {
      label: { 'rename.label': { type: 'plain_text_input', value: label } },
      color: {
        'rename.color': {
          type: 'static_select',
          selected_option: color === null ? null : { value: color },
        },
      },
    },
  };
  return submittedView.parse({ ...shown, id: 'V1', state });
}

/** Runs the submission and returns what the handler was given and what is answered. */
async function run(shown: ModalView, label: string | null, color: string | null) {
  const given: Renaming[] = [];
  const handler = rename.onSubmit(renaming, async (submission) => {
    given.push(submission);
    return {};
  });
  return { answer: await handler.run(submit(shown, label, color), request), given: given[0] };
}

describe('a modal', () => {
  it('shows errors beside their fields, and does nothing else', async () => {
    expect(await run(view({ serverId: 1 }), 'x', null)).toEqual({
      given: undefined,
      answer: { with: { errors: { label: 'Three letters at least', color: 'Choose a color' } } },
    });
    expect((await run(view({ serverId: 1 }), null, 'blue')).answer).toEqual({
      with: { errors: { label: 'Give it a label', color: 'Choose a color' } },
    });
  });

  it.each([
    ['', 'nothing'],
    ['{', 'no JSON'],
    [JSON.stringify({ o: origin, m: { serverId: '1' } }), 'metadata of another type'],
    [JSON.stringify({ o: { formId: 7 }, m: { serverId: 1 } }), 'an origin of another type'],
  ])('with the metadata %j is refused and does nothing: %s', async (private_metadata) => {
    let isRun = false;
    const handler = rename.onSubmit(renaming, async () => {
      isRun = true;
      return {};
    });
    const tampered = { ...submit(view({ serverId: 1 }), 'web-2', 'red'), private_metadata };
    await expect(handler.run(tampered, request)).rejects.toMatchObject({ code: 'unreadable_press' });
    expect(isRun).toBe(false);
  });

  it('keeps the place where it was opened, even if another version wrote the rest of its metadata', () => {
    expect(findOrigin(JSON.stringify({ o: origin, m: 'anything' }))).toEqual(origin);
    expect(findOrigin('of somebody else')).toBeUndefined();
    expect(findOrigin('')).toBeUndefined();
  });
});

it('a modal that only shows a notice stays within Slack’s limits, however long the notice', () => {
  const words = fc.string({ minLength: 1, maxLength: 5000 });
  fc.assert(
    fc.property(words, words, (title, text) => {
      expect(findViewFaults(noticeView(title, text, text))).toEqual([]);
    }),
  );
});

describe('the values that Slack sends', () => {
  it.each([
    ['value', 'x'],
    ['selected_user', 'U1'],
    ['selected_conversation', 'C1'],
    ['selected_option', { value: 'x' }],
  ])('are read from %s; null and spaces mean empty', (place, value) => {
    const expected = typeof value === 'string' ? value : value.value;
    expect(readEntered({ it: { 'a.it': { [place]: value } } })).toEqual({ it: expected });
    for (const empty of [null, '  ']) expect(readEntered({ it: { 'a.it': { [place]: empty } } })).toEqual({});
  });
});
