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
  it('lives for three seconds', async () => {
    const { open, clock, brokenRules } = await afterCommand();
    clock.advance(3001);
    expect(await open(modal([]))).toMatchObject({ error: 'expired_trigger_id' });
    expect(brokenRules()).toEqual(['expired_trigger']);
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

  it('is not found after the user closed it', async () => {
    const { app, open, owner } = await afterCommand();
    const view = viewOf(await open(modal([section('x')])));
    await owner.closes();
    expect(owner.modal()).toBeUndefined();
    expect(await app.errorOf('views.update', { view_id: view.id, view: modal([]) })).toBe('not_found');
    expect(app.last().type).not.toBe('view_closed');
  });

  it('carries two more at most, and an ack can close all of them', async () => {
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
    app.reply = () => ({ body: { response_action: 'clear' } });
    await owner.submits();
    expect(owner.modal()).toBeUndefined();
  });
});

it('a button in a modal or on Home is sent to the app without a response_url', async () => {
  const { app, open, owner } = await afterCommand();
  const { id } = viewOf(await open(modal([actions(button('Check'))])));
  await owner.presses('Check');
  expect(app.last()).toMatchObject({ type: 'block_actions', container: { type: 'view', view_id: id } });
  expect(app.last()).not.toHaveProperty('response_url');
  await owner.closes();
  const view = { type: 'home', blocks: [actions(button('Go'))] };
  await app.call('views.publish', { user_id: owner.id, view });
  await owner.opensHome();
  await owner.presses('Go');
  expect(app.last()).toMatchObject({ type: 'block_actions', view: { type: 'home' } });
  expect(app.last()).not.toHaveProperty('response_url');
});

describe('submitting', () => {
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

  it('says that there was trouble when the app does not acknowledge', async () => {
    const { slack, app, open, owner, brokenRules } = await afterCommand();
    await open(modal([section('x')]));
    slack.app.ackTimeoutMs = 40;
    app.reply = () => ({ isSilent: true });
    await owner.submits();
    await owner.sees('We had some trouble connecting');
    expect(brokenRules()).toEqual(['late_ack']);
  });
});
