import type { SlackApi, SlackClients } from '../../../src/slack/slack-api.ts';

/** A Slack of a few methods; any other fails the test. */
export function partialSlack(methods: Partial<SlackApi>): SlackApi {
  return new Proxy(methods, {
    get: (known, name) => {
      const method = Reflect.get(known, name);
      if (method === undefined) throw new Error(`${String(name)} was not to be called`);
      return method;
    },
  }) as SlackApi;
}

/** The same Slack for every workspace. */
export function clientsOf(slack: Partial<SlackApi>): SlackClients {
  return { of: () => partialSlack(slack) };
}
