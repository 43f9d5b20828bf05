import { describe, expect, it } from 'vitest';
import type { Json } from '../../../src/sandbox/slack/page-api.ts';
import {
  actions,
  afterCommand,
  button,
  input,
  modal,
  option,
  section,
  textInput,
} from './support/fake-app.ts';

const viewOf = (answer: Json) => answer.view as { id: string; hash: string };

describe('a trigger', () => {
  it('opens one modal', async () => {
    const { open, owner, brokenRules } = await afterCommand();
    expect(await open(modal([textInput('Label')]))).toMatchObject({
      ok: true,
      view: { type: 'modal', hash: expect.any(String) },
    });
    expect(owner.modal()?.title).toBe('A form');
    expect(await open(modal([textInput('Label')]))).toMatchObject({ error: 'exchanged_trigger_id' });
    expect(brokenRules()).toEqual(['exchanged_trigger']);
  });

  it('lives for three seconds', async () => {
    const { open, clock, brokenRules } = await afterCommand();
    clock.advance(3001);
    expect(await open(modal([]))).toMatchObject({ error: 'expired_trigger_id' });
    expect(brokenRules()).toEqual(['expired_trigger']);
  });

  it('is not made up', async () => {
    const { app, brokenRules } = await afterCommand();
    expect(await app.errorOf('views.open', { trigger_id: '1.2.3', view: modal([]) })).toBe(
      'invalid_trigger_id',
    );
    expect(brokenRules()).toEqual(['invalid_trigger']);
  });

  it('can be made to fail, which is no fault of the app', async () => {
    const { slack, open, brokenRules } = await afterCommand();
    slack.faults.failMethod('views.open', 'expired_trigger_id', 1);
    expect(await open(modal([]))).toMatchObject({ error: 'expired_trigger_id' });
    expect(brokenRules()).toEqual([]);
    expect(await open(modal([]))).toMatchObject({ ok: true });
  });

  it('survives a view that Slack refuses', async () => {
    const { open } = await afterCommand();
    expect(await open(modal([section('')]))).toMatchObject({ error: 'invalid_arguments' });
    const metadata = Object.fromEntries(
      Array.from({ length: 90 }, (_, i) => [`block-${i}`, section('x'.repeat(3000))]),
    );
    expect(await open(modal(Object.values(metadata)))).toMatchObject({ error: 'view_too_large' });
    expect(await open(modal([section('x')], { private_metadata: 'x'.repeat(3000) }))).toMatchObject({
      ok: true,
    });
  });
});

describe('an open modal', () => {
  it('is updated by its id, with the hash that was seen', async () => {
    const { app, open, owner } = await afterCommand();
    const view = viewOf(await open(modal([section('Loading')])));
    const next = modal([section('Loaded')]);
    const updated = await app.call('views.update', { view_id: view.id, hash: view.hash, view: next });
    expect(updated).toMatchObject({ ok: true, view: { id: view.id } });
    await owner.sees('Loaded');
    expect(await app.errorOf('views.update', { view_id: view.id, hash: view.hash, view: next })).toBe(
      'hash_conflict',
    );
  });

  it('keeps what was entered when it is updated', async () => {
    const { app, open, owner } = await afterCommand();
    const view = viewOf(await open(modal([textInput('Label')])));
    await owner.fills({ Label: 'web-1' });
    await app.call('views.update', { view_id: view.id, view: modal([section('more'), textInput('Label')]) });
    await owner.sees('Label: [web-1]');
  });

  it('is not found after the user closed it', async () => {
    const { app, open, owner } = await afterCommand();
    const view = viewOf(await open(modal([section('x')])));
    await owner.closes();
    expect(owner.modal()).toBeUndefined();
    expect(await app.errorOf('views.update', { view_id: view.id, view: modal([]) })).toBe('not_found');
    expect(app.last().type).not.toBe('view_closed');
  });

  it('is gone after a reload', async () => {
    const { open, owner } = await afterCommand();
    await open(modal([section('x')]));
    owner.reloads();
    expect(owner.modal()).toBeUndefined();
  });

  it('carries two more at most', async () => {
    const { app, open, owner, brokenRules } = await afterCommand();
    await open(modal([section('1')]));
    for (const text of ['2', '3', '4']) {
      app.reply = () => ({ body: { response_action: 'push', view: modal([section(text)]) } });
      await owner.submits();
    }
    await owner.sees('trouble connecting');
    expect(brokenRules()).toEqual(['bad_ack']);
    await owner.closes();
    await owner.sees('2');
    await owner.closes({ all: true });
    expect(owner.modal()).toBeUndefined();
  });

  it('sends its buttons to the app without a response_url', async () => {
    const { app, open, owner } = await afterCommand();
    const { id } = viewOf(await open(modal([textInput('Label'), actions(button('Check', { value: 'v' }))])));
    await owner.fills({ Label: 'web-1' });
    await owner.presses('Check');
    expect(app.last()).toMatchObject({
      type: 'block_actions',
      container: { type: 'view', view_id: id },
      view: { state: { values: { Label: { text: { type: 'plain_text_input', value: 'web-1' } } } } },
      actions: [{ type: 'button', action_id: 'press-Check', block_id: 'actions', value: 'v' }],
    });
    expect(app.last()).not.toHaveProperty('response_url');
  });
});

describe('submitting', () => {
  it('sends what was entered, of every kind of input', async () => {
    const { app, open, owner } = await afterCommand();
    await open(
      modal([
        input('Label', { type: 'plain_text_input', max_length: 8 }),
        input('Plan', { type: 'static_select', options: [option('Small', 's'), option('Large', 'l')] }),
        input('Who', { type: 'users_select' }),
        input('Where', { type: 'conversations_select' }),
        input('Seats', { type: 'plain_text_input', initial_value: '3' }),
        input('Since', { type: 'static_select', options: [option('Now')] }, { optional: true }),
      ]),
    );
    await owner.fills({ Label: 'web-1', Plan: 'Large', Who: '@vera', Where: '#ops' });
    await owner.presses('Send');
    const { view } = app.last() as { view: { state: { values: Json } } };
    expect(app.last()).toMatchObject({
      type: 'view_submission',
      user: { id: 'U0OWNER001', team_id: 'T0SANDBOX' },
    });
    expect(view.state.values).toMatchObject({
      Label: { it: { value: 'web-1' } },
      Plan: { it: { selected_option: option('Large', 'l') } },
      Who: { it: { selected_user: 'U0VIEWER01' } },
      Where: { it: { selected_conversation: 'C0OPS00001' } },
      Seats: { it: { value: '3' } },
      Since: { it: { selected_option: null } },
    });
    expect(owner.modal()).toBeUndefined();
  });

  it('is refused by Slack itself while a required input is empty or too long', async () => {
    const { app, open, owner } = await afterCommand();
    await open(modal([textInput('Label', {}, { max_length: 8 })]));
    const asked = app.received.length;
    await expect(owner.submits()).rejects.toThrow('invalid_input');
    await owner.sees('Please complete this required field.');
    await owner.fills({ Label: 'much too long' });
    await expect(owner.submits()).rejects.toThrow('characters');
    expect(app.received).toHaveLength(asked);
    await owner.fills({ Label: 'web-1' });
    await owner.submits();
    expect(app.received).toHaveLength(asked + 1);
  });

  it('takes only options that are offered', async () => {
    const { open, owner } = await afterCommand();
    await open(modal([input('Plan', { type: 'static_select', options: [option('Small')] })]));
    await expect(owner.fills({ Plan: 'Huge' })).rejects.toThrow('not_an_option');
    await expect(owner.submits({ Plan: { it: 'Huge' } })).rejects.toThrow('not_an_option');
  });

  it('shows the errors of the app below the inputs, and keeps the modal open', async () => {
    const { app, open, owner, brokenRules } = await afterCommand();
    await open(modal([textInput('Label', { optional: true })]));
    app.reply = () => ({ body: { response_action: 'errors', errors: { Label: 'Taken already' } } });
    await owner.submits();
    await owner.sees('! Taken already');
    expect(brokenRules()).toEqual([]);
    app.reply = () => ({ body: { response_action: 'errors', errors: { Other: 'x' } } });
    await owner.submits();
    await owner.sees('trouble connecting');
    expect(brokenRules()).toEqual(['bad_ack']);
  });

  it('turns to another view, adds one, or clears all', async () => {
    const { app, open, owner, brokenRules } = await afterCommand();
    await open(modal([section('first')]));
    app.reply = () => ({ body: { response_action: 'update', view: modal([section('second')]) } });
    await owner.submits();
    await owner.sees('second');
    app.reply = () => ({ body: { response_action: 'push', view: modal([section('third')]) } });
    await owner.submits();
    await owner.sees('third');
    app.reply = () => ({ body: { response_action: 'push', view: modal([section('')]) } });
    await owner.submits();
    await owner.sees('trouble connecting');
    app.reply = () => ({ body: { response_action: 'clear' } });
    await owner.submits();
    expect(owner.modal()).toBeUndefined();
    expect(brokenRules()).toEqual(['limits']);
  });

  it('says that there was trouble when the app does not acknowledge', async () => {
    const { slack, app, open, owner, brokenRules } = await afterCommand();
    await open(modal([section('x')]));
    slack.app.ackTimeoutMs = 40;
    app.reply = () => ({ delayMs: Number.POSITIVE_INFINITY });
    await owner.submits();
    await owner.sees('We had some trouble connecting');
    expect(brokenRules()).toEqual(['late_ack']);
  });

  it('needs a submit button', async () => {
    const { open, owner } = await afterCommand();
    const { submit: _submit, ...view } = modal([section('x')]);
    await open(view);
    await expect(owner.submits()).rejects.toThrow('no_submit');
  });
});
