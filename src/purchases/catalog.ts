import type { DataTableBlock, KnownBlock, PlainTextOption } from '@slack/types';
import { z } from 'zod';
import { type Catalog, describePlan, describeRam, findPlan, type Order, type Plan } from '../core/catalog.ts';
import { defineUseCase } from '../core/entry.ts';
import { Refusal } from '../core/errors.ts';
import { findNearest } from '../core/labels.ts';
import { describeMoney, describeMonthly } from '../core/money.ts';
import type { OnWait } from '../hosting/hosting-api.ts';
import { actions, context, LIMITS, type Message, option, section, sectionsOf } from '../slack/kit/blocks.ts';
import { defineButton, definePages, pageOf } from '../slack/kit/button.ts';
import { defineCommand, parseNothing } from '../slack/kit/command.ts';
import { codeLabel, count, describeNumber, escapeText, plainLabel, shorten } from '../slack/kit/text.ts';
import { sendWaiting } from '../slack/reply.ts';
import { orderValue } from './operation.ts';

export const createButton = defineButton('create', z.object({ plan: z.string().exactOptional() }));
/** Opens a review of the same order, with today's price and a confirmation ID of its own. */
export const createReviewButton = defineButton('create_review', orderValue);
export const renewButton = defineButton('renew', z.object({ id: z.number().int() }));

const readCatalog = defineUseCase({
  name: 'catalog',
  needs: 'viewer',
  effect: 'reads',
  run: async ({ onWait }: { onWait?: OnWait | undefined }, context): Promise<Catalog> => {
    const hosting = await context.hosting();
    return hosting.fetchCatalog({ onWait });
  },
});

const catalogPages = definePages('catalog');

export const catalog = defineCommand({
  name: 'catalog',
  usage: 'catalog',
  summary: 'Show plans, prices, locations and images',
  needs: 'viewer',
  parse: parseNothing,
  run: async (_input, request) => {
    const found = await request.execute(readCatalog, { onWait: sendWaiting(request) });
    await request.reply.send(catalogMessage(found, request.currency, 0));
  },
  actions: catalogPages.on(async ({ page }, request) => {
    const found = await request.execute(readCatalog, {});
    await request.reply.replace(catalogMessage(found, request.currency, page));
  }),
});

const PLANS_PER_MESSAGE = 60;
const PLANS_PER_SECTION = 20;

export function catalogMessage(catalog: Catalog, currency: string, asked: number): Message {
  const { page, pages, shown: plans } = pageOf(catalog.plans, asked, PLANS_PER_MESSAGE);
  const title = `${count(catalog.plans.length, 'plan')}${pages > 1 ? `, part ${page + 1} of ${pages}` : ''}`;
  const around = (table: KnownBlock[]): KnownBlock[] => [
    section(`*${title}.*${currency ? '' : ' The hosting API doesn’t report a currency.'}`),
    ...table,
    section(`*Locations* (${catalog.locations.length})\n${codes(catalog.locations)}`),
    section(`*Images* (${catalog.images.length})\n${codes(catalog.images)}`),
    ...listOmissions(catalog).map((words) => context(words)),
    ...(plans.length > 0
      ? [
          actions(
            createButton.element('Create a server…', {}, { style: 'primary' }),
            ...catalogPages.buttons({ page, pages }),
          ),
        ]
      : []),
  ];
  return {
    text: `${title}, ${count(catalog.locations.length, 'location')}, ${count(catalog.images.length, 'image')}`,
    blocks: around(plans.length > 0 ? [planTable(plans, currency)] : planSections(plans, currency)),
    plainBlocks: around(planSections(plans, currency)),
  };
}

/** The price comes second: on a phone the columns after that are out of sight. */
function planTable(plans: readonly Plan[], currency: string): DataTableBlock {
  const cell = (text: string) => ({ type: 'raw_text' as const, text });
  const head = ['Plan', 'Per month', 'vCPU', 'RAM', 'Disk'].map(cell);
  const rows = plans.map((plan) => [
    cell(plainLabel(plan.code, 40)),
    cell(describeMoney(plan.monthly, plan.currency ?? currency)),
    cell(String(plan.vcpu)),
    cell(describeRam(plan.ramMb)),
    cell(`${plan.diskGb} GB`),
  ]);
  return { type: 'data_table', caption: 'Plans', page_size: 10, rows: [head, ...rows] };
}

function planSections(plans: readonly Plan[], currency: string): KnownBlock[] {
  if (plans.length === 0) return [context('No plans can be ordered right now.')];
  const lines = plans.map(
    (plan) =>
      `\`${escapeText(plainLabel(plan.code, 40))}\` ${describePlan(plan)} · *${escapeText(describeMonthly(plan.monthly, plan.currency ?? currency))}*`,
  );
  return sectionsOf(lines, PLANS_PER_SECTION);
}

/** As many codes as one paragraph holds; the form offers the rest. */
function codes(all: readonly string[]): string {
  const shown: string[] = [];
  let length = 0;
  for (const code of all) {
    const word = `\`${escapeText(shorten(code, 75))}\``;
    length += word.length + 2;
    if (length > 1500) break;
    shown.push(word);
  }
  const rest = all.length - shown.length;
  return `${shown.join(', ') || 'none'}${rest > 0 ? ` and ${rest} more; *Create a server…* lists them all` : ''}`;
}

export const CHOICES = ['plan', 'location', 'image'] as const;
export type Choice = (typeof CHOICES)[number];

/** The codes that can be ordered from Slack: those that fit into a menu, from which they are chosen. */
function listCodes(catalog: Catalog, field: Choice): readonly string[] {
  return codesOf(catalog, field).filter((code) => code.length <= LIMITS.optionValue);
}

/** The choices of a field, as a menu offers them. */
export function listChoices(catalog: Catalog, field: Choice, currency: string): PlainTextOption[] {
  return listCodes(catalog, field).map((code) => {
    const plan = field === 'plan' ? findPlan(catalog, code) : undefined;
    const price = plan ? ` · ${describeMonthly(plan.monthly, plan.currency ?? currency)}` : '';
    const text = `${plainLabel(code, LIMITS.optionText - price.length)}${price}`;
    return option(text, code, plan && describePlan(plan));
  });
}

/** The choices whose code or text has what was typed, in any case. */
export function searchChoices(
  catalog: Catalog,
  field: Choice,
  currency: string,
  typed: string,
): PlainTextOption[] {
  const wanted = typed.trim().toLowerCase();
  return listChoices(catalog, field, currency).filter(({ value, text }) =>
    `${value} ${text.text}`.toLowerCase().includes(wanted),
  );
}

/** Says which parts of the catalog can't be offered, and why; one sentence each. */
export function listOmissions(catalog: Catalog): string[] {
  const long = CHOICES.flatMap((field) => {
    const amount = codesOf(catalog, field).length - listCodes(catalog, field).length;
    return amount > 0 ? [count(amount, field)] : [];
  });
  return [
    ...(long.length > 0
      ? [`Can’t be ordered from Slack: ${long.join(', ')} with a code that is too long.`]
      : []),
    ...(catalog.isPart ? ['The hosting API’s catalog has more entries than we could read.'] : []),
  ];
}

/** Finds what was chosen and can't be ordered, with the nearest that can; what was not chosen yet is not wrong. */
export function findWrongChoices(wanted: Partial<Order>, catalog: Catalog): Refusal[] {
  return CHOICES.flatMap((field) => {
    const typed = wanted[field];
    const codes = listCodes(catalog, field);
    if (typed === undefined || codes.includes(typed)) return [];
    return [new Refusal('unknown_choice', { field, typed, nearest: findNearest(typed, codes) })];
  });
}

function codesOf({ plans, locations, images }: Catalog, field: Choice): readonly string[] {
  if (field === 'plan') return plans.map(({ code }) => code);
  return field === 'location' ? locations : images;
}

export function namesakeWords(count: number, label: string): string {
  const are = count === 1 ? 'There’s already a server' : `There are already ${describeNumber(count)} servers`;
  return `:warning: ${are} called ${codeLabel(label)}.`;
}
