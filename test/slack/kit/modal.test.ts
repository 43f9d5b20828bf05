import type { ModalView } from '@slack/types';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { Refusal } from '../../../src/core/errors.ts';
import { findViewFaults } from '../../../src/sandbox/slack/block-kit/find-faults.ts';
import { option } from '../../../src/slack/kit/blocks.ts';
import { noticeView } from '../../../src/slack/kit/form.ts';
import { defineModal, findOrigin, type Submission, submittedView } from '../../../src/slack/kit/modal.ts';
import type { SlackRequest } from '../../../src/slack/request.ts';

const request = { authorize: async () => undefined } as unknown as SlackRequest;
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
  it('reads back its fields, its metadata and where it was opened', async () => {
    const note = fc.string({ unit: 'grapheme', maxLength: 100 });
    await fc.assert(
      fc.asyncProperty(note, fc.integer(), fc.boolean(), async (text, serverId, hasChannel) => {
        const from = hasChannel ? origin : { formId: origin.formId };
        const { given } = await run(view({ serverId, note: text }, from as typeof origin), ' web 2 ', 'red');
        expect(given).toEqual({
          fields: { label: 'web 2', color: 'red' },
          metadata: { serverId, note: text },
          origin: from,
          viewId: 'V1',
        });
      }),
    );
  });

  it('is accepted by Slack', () => {
    expect(findViewFaults(view({ serverId: 1 }))).toEqual([]);
  });

  it('shows errors beside their fields, and does nothing else', async () => {
    expect(await run(view({ serverId: 1 }), 'x', null)).toEqual({
      given: undefined,
      answer: { with: { errors: { label: 'Three letters at least', color: 'Choose a color' } } },
    });
    expect((await run(view({ serverId: 1 }), null, 'blue')).answer).toEqual({
      with: { errors: { label: 'Give it a label', color: 'Choose a color' } },
    });
  });

  it('names only blocks of its own view in errors, as Slack requires', async () => {
    const shown = view({ serverId: 1 });
    const { answer } = await run(shown, null, null);
    const names =
      answer.with !== 'close' && answer.with && 'errors' in answer.with
        ? Object.keys(answer.with.errors)
        : [];
    expect(names.length).toBe(2);
    expect(shown.blocks.map(({ block_id }) => block_id)).toEqual(expect.arrayContaining(names));
  });

  it('shows earlier choices', () => {
    const elements = view({ serverId: 1 }).blocks.map((block) =>
      'element' in block ? block.element : undefined,
    );
    expect(elements).toMatchObject([{ initial_value: 'web-1' }, { initial_option: { value: 'green' } }]);
  });

  it('loads its choices while the user types if there are more than 100', () => {
    const options = (amount: number) => Array.from({ length: amount }, (_, at) => option(`${at}`, `${at}`));
    const typeOf = (amount: number) =>
      rename.selectField('color', { label: 'C', options: options(amount), placeholder: 'x' }).element.type;
    expect([typeOf(100), typeOf(101)]).toEqual(['static_select', 'external_select']);
  });

  it.each([
    ['', 'nothing'],
    ['{', 'no JSON'],
    ['{"m":{"serverId":1}}', 'no origin'],
    [JSON.stringify({ o: origin, m: { serverId: '1' } }), 'metadata of another type'],
    [JSON.stringify({ o: { formId: 7 }, m: { serverId: 1 } }), 'an origin of another type'],
    [JSON.stringify({ o: origin }), 'no metadata'],
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

  it('is not read at all if the user has no permission', async () => {
    const refusing = {
      authorize: async () => {
        throw new Refusal('role_needed', { needed: 'manager' });
      },
    } as unknown as SlackRequest;
    const handler = rename.onSubmit(renaming, async () => ({}));
    for (const label of ['web-2', null]) {
      const sent = submit(view({ serverId: 1 }), label, 'red');
      await expect(handler.run(sent, refusing)).rejects.toMatchObject({ code: 'role_needed' });
    }
  });

  it('keeps the place where it was opened, even if another version wrote the rest of its metadata', () => {
    expect(findOrigin(JSON.stringify({ o: origin, m: 'anything' }))).toEqual(origin);
    expect(findOrigin('of somebody else')).toBeUndefined();
    expect(findOrigin('')).toBeUndefined();
  });
});

describe('a modal that only shows a notice', () => {
  it('stays within Slack’s limits, however long the notice', () => {
    const words = fc.string({ minLength: 1, maxLength: 5000 });
    fc.assert(
      fc.property(words, words, (title, text) => {
        expect(findViewFaults(noticeView(title, text, text))).toEqual([]);
      }),
    );
  });
});
