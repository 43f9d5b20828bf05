import type { ModalView } from '@slack/types';
import fc from 'fast-check';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import { Refusal } from '../../../src/core/errors.ts';
import { findMessageFaults, findViewFaults } from '../../../src/sandbox/slack/block-kit/find-faults.ts';
import { USERS } from '../../../src/sandbox/slack/workspace.ts';
import { confirmation, option } from '../../../src/slack/kit/blocks.ts';
import { defineButton } from '../../../src/slack/kit/button.ts';
import { readEntered } from '../../../src/slack/kit/fields.ts';
import { noticeView } from '../../../src/slack/kit/form.ts';
import { defineModal, findOrigin, type Submission, submittedView } from '../../../src/slack/kit/modal.ts';
import type { SlackRequest } from '../../../src/slack/request.ts';
import { startBoth } from '../../sandbox/slack/support/fake-app.ts';

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

  it('names only blocks of its own view in errors, as Slack requires', async () => {
    const shown = view({ serverId: 1 });
    const { answer } = await run(shown, null, null);
    const names = answer.with && 'errors' in answer.with ? Object.keys(answer.with.errors) : [];
    expect(names.length).toBe(2);
    expect(shown.blocks.map(({ block_id }) => block_id)).toEqual(expect.arrayContaining(names));
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

const grant = defineModal(
  'grant',
  z.object({}),
  z.object({
    person: z.string('Choose a person'),
    channel: z.string('Choose a channel').exactOptional(),
    role: z.enum(['viewer', 'operator'], 'Choose a role'),
    server: z.string().exactOptional(),
    reason: z.string('Say why').trim().min(3, 'Say a little more'),
    pattern: z.string().trim().exactOptional(),
  }),
);
type Granting = { person: string; role: 'viewer' | 'operator'; reason: string } & Partial<
  Record<'channel' | 'server' | 'pattern', string>
>;

const ROLES = [option('Viewer', 'viewer'), option('Operator', 'operator')];
const SERVERS = [option('web-1', '7')];

/** The form of all kinds of fields, filled with these at first. */
function grantView(initial: Partial<Granting> = {}): ModalView {
  const at = (name: keyof Granting) => (initial[name] === undefined ? {} : { initial: initial[name] });
  return grant.view({
    origin: { formId: 'F1' },
    metadata: {},
    title: 'Give a role',
    submit: 'Give',
    blocks: [
      grant.userField('person', { label: 'Person', hint: 'Who gets it', ...at('person') }),
      grant.channelField('channel', { label: 'Channel', optional: true, ...at('channel') }),
      grant.selectField('role', { label: 'Role', placeholder: 'Choose', options: ROLES, ...at('role') }),
      grant.selectField('server', {
        label: 'Server',
        placeholder: 'Type a few letters',
        options: SERVERS,
        typeAhead: true,
        optional: true,
        ...at('server'),
      }),
      grant.textField('reason', { label: 'Reason', multiline: true, maxLength: 300, ...at('reason') }),
      grant.textField('pattern', {
        label: 'Pattern',
        placeholder: 'web-*',
        optional: true,
        ...at('pattern'),
      }),
    ],
  });
}

/** Opens the form in the local Slack, submits it as a user, and reads what Slack sent. */
async function roundTrip(shown: ModalView) {
  const { slack, app } = await startBoth();
  app.reply = ({ kind }) => (kind === 'block_suggestion' ? { body: { options: SERVERS } } : {});
  const owner = slack.as('olga');
  await owner.types('/vps access');
  const opened = await app.call('views.open', { trigger_id: app.last().trigger_id, view: shown });
  expect(opened).toMatchObject({ ok: true });
  await owner.presses('Give');
  return submitGrant(app.last().view);
}

const granting = { name: 'access_grant', needs: 'anyone', effect: 'reads' } as const;

/** What the handler is given of what Slack sends. */
async function submitGrant(sent: unknown) {
  const given: Granting[] = [];
  const handler = grant.onSubmit(granting, async ({ fields }) => {
    given.push(fields);
    return {};
  });
  await handler.run(submittedView.parse(sent), request);
  return given[0];
}

const FULL: Granting = {
  person: USERS.otto.id,
  channel: 'C0OPS00001',
  role: 'operator',
  server: '7',
  reason: 'On call\nthis week',
  pattern: 'web-*',
};

describe('a form with all kinds of fields', () => {
  it('reads initial values, and leaves out optional fields that are empty', async () => {
    expect(await roundTrip(grantView(FULL))).toEqual(FULL);
    const { channel, server, pattern, ...rest } = FULL;
    expect(await roundTrip(grantView(rest))).toEqual(rest);
  });

  it('allows only optional fields to be empty', () => {
    expect(grant.textField('pattern', { label: 'P', optional: true }).optional).toBe(true);
    expect(grant.textField('reason', { label: 'R' }).optional).toBeUndefined();
    expectTypeOf(grant.textField<'pattern'>)
      .parameter(1)
      .toHaveProperty('optional')
      .toEqualTypeOf<boolean | undefined>();
    expectTypeOf(grant.textField<'reason'>)
      .parameter(1)
      .toHaveProperty('optional')
      .toEqualTypeOf<undefined>();
  });
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

  it('never break the form, whatever they are', () => {
    const state = fc.dictionary(fc.string(), fc.dictionary(fc.string(), fc.anything()));
    fc.assert(
      fc.property(state, (entered) => {
        for (const value of Object.values(readEntered(entered))) expect(value.trim()).not.toBe('');
      }),
    );
  });
});
