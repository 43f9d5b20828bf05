import type { ModalView } from '@slack/types';
import { z } from 'zod';
import type { Catalog, Order } from '../../domain/catalog.ts';
import { LABEL_MAX_CHARACTERS } from '../../domain/label.ts';
import { context, section } from '../kit/blocks.ts';
import { noticeView } from '../kit/form.ts';
import { LIMITS } from '../kit/limits.ts';
import { defineModal } from '../kit/modal.ts';
import type { Origin } from '../kit/origin.ts';
import { shortKey } from '../kit/short-key.ts';
import { CHOICES, type Choice, listChoices, listOmissions } from './choice-options.ts';

export const CREATE_TITLE = 'Create a server';

/** The choices, as keys of the catalog's codes; submitting shows the price. */
export const createChoices = defineModal(
  'create',
  z.object({}),
  z.object({
    plan: z.string('Choose a plan'),
    location: z.string('Choose a location'),
    image: z.string('Choose an image'),
    label: z.string('Enter a label').trim().min(1, 'Enter a label'),
    channel: z.string().exactOptional(),
  }),
);

/** The form of a create, filled with what was chosen before; `wrong` says what of it can't be ordered. */
export function choicesView(
  catalog: Catalog,
  input: Partial<Order>,
  origin: Origin,
  currency: string,
  wrong: readonly string[] = [],
): ModalView {
  const omissions = listOmissions(catalog);
  // A menu without a choice makes Slack refuse the whole form.
  const missing = CHOICES.find((field) => listChoices(catalog, field, currency).length === 0);
  if (missing) {
    const words = `Nothing can be ordered right now: the catalog has no ${missing}s.`;
    return noticeView(CREATE_TITLE, words, ...omissions);
  }
  return createChoices.view({
    origin,
    metadata: {},
    title: CREATE_TITLE,
    submit: 'Review',
    blocks: [
      ...wrong.map((words) => section(words)),
      ...CHOICES.map((field) => choiceField(field, catalog, input, currency)),
      createChoices.textField('label', {
        label: 'Label',
        placeholder: 'web-1',
        hint: 'The server’s name. You’ll see the price before you order.',
        maxLength: LABEL_MAX_CHARACTERS,
        initial: input.label?.slice(0, LABEL_MAX_CHARACTERS),
      }),
      ...(origin.isHome ? [channelField(origin)] : []),
      ...omissions.map((words) => context(words)),
    ],
  });
}

/** An order that is made on Home has no channel of its own. */
function channelField({ channelId }: Origin) {
  return createChoices.channelField('channel', {
    label: 'Channel for the result',
    hint: 'You must be a member. Leave empty to get the result in a direct message. Only you will see the root password.',
    excludesShared: true,
    optional: true,
    initial: channelId?.startsWith('D') ? undefined : channelId,
  });
}

const LABELS: Readonly<Record<Choice, string>> = { plan: 'Plan', location: 'Location', image: 'Image' };

function choiceField(name: Choice, catalog: Catalog, input: Partial<Order>, currency: string) {
  const options = listChoices(catalog, name, currency);
  const chosen = input[name];
  const isSearched = options.length > LIMITS.options;
  return createChoices.selectField(name, {
    label: LABELS[name],
    options,
    placeholder: `Choose ${name === 'image' ? 'an' : 'a'} ${name}`,
    initial: chosen === undefined ? undefined : shortKey(chosen),
    hint: isSearched ? `Type to search all ${options.length} ${name}s.` : undefined,
  });
}
