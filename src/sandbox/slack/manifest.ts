import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';

/** What an app's manifest lets it do, as Slack reads it: what is left out is switched off. */
export interface ManifestFacts {
  readonly command: string;
  readonly description: string;
  readonly usageHint: string;
  /** An admin may leave out the optional ones among them. */
  readonly scopes: readonly string[];
  readonly hasHomeTab: boolean;
  /** Without it, the app can't send direct messages. */
  readonly hasMessagesTab: boolean;
  /** Users can't write to the app in its conversation. */
  readonly isMessagesTabReadOnly: boolean;
}

const manifest = z.object({
  features: z.object({
    app_home: z
      .object({
        home_tab_enabled: z.boolean().default(false),
        messages_tab_enabled: z.boolean().default(false),
        messages_tab_read_only_enabled: z.boolean().default(true),
      })
      .default({
        home_tab_enabled: false,
        messages_tab_enabled: false,
        messages_tab_read_only_enabled: true,
      }),
    slash_commands: z
      .array(z.object({ command: z.string(), description: z.string(), usage_hint: z.string().default('') }))
      .default([]),
  }),
  oauth_config: z.object({
    scopes: z.object({
      // Optional scopes are marked in a second list: a scope that stands there alone is never asked for.
      bot: z.array(z.string()).default([]),
    }),
  }),
});

/** Reads the text of a manifest. @throws ZodError where it is not one */
export function parseManifest(text: string): ManifestFacts {
  const { features, oauth_config } = manifest.parse(parse(text));
  const [command] = features.slash_commands;
  return {
    command: command?.command ?? '',
    description: command?.description ?? '',
    usageHint: command?.usage_hint ?? '',
    scopes: oauth_config.scopes.bot,
    hasHomeTab: features.app_home.home_tab_enabled,
    hasMessagesTab: features.app_home.messages_tab_enabled,
    isMessagesTabReadOnly: features.app_home.messages_tab_read_only_enabled,
  };
}

/** The manifest that this repository ships. */
export function readOwnManifest(): ManifestFacts {
  return parseManifest(readFileSync(new URL('../../../manifest.yml', import.meta.url), 'utf8'));
}
