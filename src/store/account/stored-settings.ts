import { z } from 'zod';
import { money } from '../../domain/money.ts';
import { DEFAULT_SETTINGS, type WorkspaceSettings } from '../../domain/settings.ts';
import { parseKnown } from '../newer-version.ts';

const amount = z.number().int().min(0).transform(money).exactOptional();

const rule = z.object({
  delete: z.boolean().default(DEFAULT_SETTINGS.approval.delete),
  renew: z.boolean().default(DEFAULT_SETTINGS.approval.renew),
  createAbove: amount,
});
const budget = z.object({ workspace: amount, person: amount });
const freeze = z.object({ by: z.string(), since: z.number() });

/** Every setting that is missing was not known to the version that stored the rest, and has its default. */
const storedSettings = z.object({
  announces: z.boolean().default(DEFAULT_SETTINGS.announces),
  approval: rule.prefault({}),
  budget: budget.prefault({}),
  channelId: z.string().exactOptional(),
  freeze: freeze.exactOptional(),
  currency: z.string().exactOptional(),
  digest: z
    .object({
      channelId: z.string(),
      hour: z.number().int().min(0).max(23),
      zone: z.string(),
      daysBefore: z.array(z.number().int().min(1)).min(1),
    })
    .exactOptional(),
});

const anything = z.looseObject({});
const storedParts = z.looseObject({
  approval: anything.prefault({}),
  budget: anything.prefault({}),
  freeze: anything.prefault({}),
});

/** What a later version of the app has stored beside what this one knows stays as it is. */
export function writeSettings(stored: string, settings: WorkspaceSettings): string {
  const was = parseKnown(storedParts, JSON.parse(stored));
  return JSON.stringify({
    ...listUnknown(was, storedSettings),
    ...settings,
    approval: { ...listUnknown(was.approval, rule), ...settings.approval },
    budget: { ...listUnknown(was.budget, budget), ...settings.budget },
    ...(settings.freeze && { freeze: { ...listUnknown(was.freeze, freeze), ...settings.freeze } }),
  });
}

function listUnknown(stored: object, { shape }: z.ZodObject): object {
  return Object.fromEntries(Object.entries(stored).filter(([name]) => !Object.hasOwn(shape, name)));
}

/**
 * Reads what `changeSettings` of any version wrote.
 * @throws Refusal `newer_version`, SyntaxError when it can't be read: the defaults have no limits, so they must not take
 * its place
 */
export function readSettings(text: string): WorkspaceSettings {
  return parseKnown(storedSettings, JSON.parse(text));
}
