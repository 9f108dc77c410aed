// A component that is drawn again only if a property changed. (Preact has this in its React layer only, which the page does without.)
import { Component, type ComponentChild, type FunctionComponent, h } from "preact";

export function memo<P extends object>(inner: FunctionComponent<P>): FunctionComponent<P> {
  class Memo extends Component<P> {
    override shouldComponentUpdate(next: Readonly<P>): boolean {
      const before = this.props as Record<string, unknown>;
      const after = next as Record<string, unknown>;
      return Object.keys(after).some((key) => after[key] !== before[key]) || Object.keys(before).some((key) => !(key in after));
    }
    override render(): ComponentChild {
      return h(inner, this.props as P);
    }
  }
  return Memo as unknown as FunctionComponent<P>;
}
