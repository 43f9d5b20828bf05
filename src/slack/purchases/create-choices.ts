import type { ModalView, PlainTextOption } from '@slack/types';
import { z } from 'zod';
import { type Catalog, describePlan, type Order } from '../../domain/catalog.ts';
import { LABEL_MAX_CHARACTERS } from '../../domain/label.ts';
import { describeMoney } from '../../domain/money.ts';
import { omitUndefined } from '../../domain/omit-undefined.ts';
import { option, section } from '../kit/blocks.ts';
import { noticeView } from '../kit/form.ts';
import { LIMITS } from '../kit/limits.ts';
import { defineModal } from '../kit/modal.ts';
import type { Origin } from '../kit/origin.ts';

export const CREATE_TITLE = 'Create a server';

/** What is chosen from the catalog. */
export const CHOICES = ['plan', 'location', 'image'] as const;
export type Choice = (typeof CHOICES)[number];

/** The choices; submitting shows the price. */
export const createChoices = defineModal(
  'create',
  z.object({}),
  z.object({
    plan: z.string('Choose a plan'),
    location: z.string('Choose a location'),
    image: z.string('Choose an image'),
    label: z.string('Give it a label').trim().min(1, 'Give it a label'),
  }),
);

/** The form of a create, filled with what was typed already; `wrong` says what of it is not in the catalog. */
export function choicesView(
  catalog: Catalog,
  input: Partial<Order>,
  origin: Origin,
  currency: string,
  wrong: readonly string[] = [],
): ModalView {
  // A menu without a choice makes Slack refuse the whole form.
  const missing = CHOICES.find((field) => listChoices(catalog, field, currency).length === 0);
  if (missing) return noticeView(CREATE_TITLE, `Nothing can be ordered now: the catalog has no ${missing}s.`);
  const select = (name: Choice, label: string) =>
    createChoices.selectField(name, {
      label,
      options: listChoices(catalog, name, currency),
      placeholder: `Choose ${name === 'image' ? 'an' : 'a'} ${name}`,
      ...omitUndefined({ initial: input[name] }),
    });
  return createChoices.view({
    origin,
    metadata: {},
    title: CREATE_TITLE,
    submit: 'Review',
    blocks: [
      ...wrong.map((words) => section(words)),
      select('plan', 'Plan'),
      select('location', 'Location'),
      select('image', 'Image'),
      createChoices.textField('label', {
        label: 'Label',
        placeholder: 'web-1',
        hint: 'Its name here and in the account. Nothing is ordered yet: the price comes next.',
        maxLength: LABEL_MAX_CHARACTERS,
        ...omitUndefined({ initial: input.label?.slice(0, LABEL_MAX_CHARACTERS) }),
      }),
    ],
  });
}

/** The choices of a field, as a menu offers them; a code that no menu can carry is left to the typed command. */
export function listChoices(catalog: Catalog, field: Choice, currency: string): PlainTextOption[] {
  const all = {
    plan: () =>
      catalog.plans.map((plan) => {
        const price = `${describeMoney(plan.monthly, currency)} a month`;
        return option(`${plan.code} · ${price}`, plan.code, describePlan(plan));
      }),
    location: () => catalog.locations.map((code) => option(code, code)),
    image: () => catalog.images.map((code) => option(code, code)),
  }[field]();
  return all.filter(({ value = '' }) => value.length <= LIMITS.optionValue);
}
