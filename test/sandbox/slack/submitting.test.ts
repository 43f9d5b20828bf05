import { describe, expect, it } from 'vitest';
import type { Json } from '../../../src/sandbox/slack/page-api.ts';
import { afterCommand, input, option } from './support/after-command.ts';
import { modal, section, textInput } from './support/fake-app.ts';

describe('submitting', () => {
  it('sends what was entered, of every kind of input', async () => {
    const { app, open, owner } = await afterCommand();
    await open(
      modal([
        input('Label', { type: 'plain_text_input', max_length: 8 }),
        input('Plan', { type: 'static_select', options: [option('Small', 's'), option('Large', 'l')] }),
        input('Image', { type: 'radio_buttons', options: [option('Debian'), option('Alpine')] }),
        input(
          'Extras',
          { type: 'checkboxes', options: [option('IPv6'), option('Backup')] },
          { optional: true },
        ),
        input('Who', { type: 'users_select' }),
        input('Where', { type: 'conversations_select' }),
        input('Seats', { type: 'number_input', is_decimal_allowed: false, initial_value: '3' }),
        input('Since', { type: 'datepicker' }, { optional: true }),
      ]),
    );
    await owner.fills({ Label: 'web-1', Plan: 'Large', Image: 'Debian', Who: '@vera', Where: '#ops' });
    await owner.fills({ Extras: ['IPv6', 'Backup'] });
    await owner.presses('Send');
    const { view } = app.last() as { view: { state: { values: Json } } };
    expect(app.last()).toMatchObject({
      type: 'view_submission',
      user: { id: 'U0OWNER001', team_id: 'T0SANDBOX' },
    });
    expect(view.state.values).toMatchObject({
      Label: { it: { value: 'web-1' } },
      Plan: { it: { selected_option: option('Large', 'l') } },
      Image: { it: { selected_option: option('Debian') } },
      Extras: { it: { selected_options: [option('IPv6'), option('Backup')] } },
      Who: { it: { selected_user: 'U0VIEWER01' } },
      Where: { it: { selected_conversation: 'C0OPS00001' } },
      Seats: { it: { value: '3' } },
      Since: { it: { selected_date: null } },
    });
    expect(owner.modal()).toBeUndefined();
  });

  it('is refused by Slack itself while a required input is empty or too long', async () => {
    const { app, open, owner } = await afterCommand();
    const seats = input(
      'Seats',
      { type: 'number_input', is_decimal_allowed: false, min_value: '1' },
      { optional: true },
    );
    await open(modal([textInput('Label', {}, { max_length: 8, min_length: 3 }), seats]));
    const asked = app.received.length;
    await expect(owner.submits()).rejects.toThrow('invalid_input');
    await owner.sees('Please complete this required field.');
    for (const bad of ['much too long', 'ab']) {
      await owner.fills({ Label: bad });
      await expect(owner.submits()).rejects.toThrow('characters');
    }
    await owner.fills({ Label: 'web-1', Seats: '0' });
    await expect(owner.submits()).rejects.toThrow('at least 1');
    expect(app.received).toHaveLength(asked);
    await owner.fills({ Seats: '2' });
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
    const { app, open, owner, brokenRules } = await afterCommand({ ackTimeoutMs: 40 });
    await open(modal([section('x')]));
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
