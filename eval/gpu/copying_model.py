#!/usr/bin/env python3
"""How many sites per second a GPU would train: the copying model of dedust-seq2seq, in PyTorch.

    eval/gpu/copying_model.py --device cpu --sites 1
    eval/gpu/copying_model.py --device cuda --sites 1 16 256 1024 --graph
    eval/gpu/copying_model.py --device cuda --sites 1 16 32 --units 512 --graph

Every site has a model of its own. All make one step at a time: the first dimension of every tensor is the site, and a
step is a batch of 64 pairs of 12 to 8 words for each. A site has 5,000 made-up pairs, passed over `--epochs` times.
Prints a table; `exact` is the share of new pairs all of whose words are likelier than not, so that nothing is timed
that does not learn. Pairs are made before the clock runs.
"""
import argparse, math, time

import torch

PAIRS, BATCH, SOURCE, TARGET = 5_000, 64, 12, 8
# Words are the end, arguments, names that go and names that stay.
WORDS, ARGUMENT, FIRST_NAME, FIRST_KEPT = 76, 3, 4, 20


class Gru:
    """One layer for every site."""

    def __init__(self, weights, units):
        bound = units ** -0.5
        self.input, self.input_bias = weights([units, 3 * units], bound), weights([1, 3 * units], bound)
        self.state, self.state_bias = weights([units, 3 * units], bound), weights([1, 3 * units], bound)

    def run(self, inputs, state, backward=False):
        """States `[sites, pairs, steps, units]` from inputs of the same shape and a first state."""
        projected = (inputs.flatten(1, 2) @ self.input + self.input_bias).unflatten(1, inputs.shape[1:3])
        steps, states = range(inputs.shape[2]), []
        for step in reversed(steps) if backward else steps:
            reset, update, candidate = projected[:, :, step].chunk(3, 2)
            from_reset, from_update, from_candidate = (state @ self.state + self.state_bias).chunk(3, 2)
            candidate = torch.tanh(candidate + torch.sigmoid(reset + from_reset) * from_candidate)
            state = candidate + torch.sigmoid(update + from_update) * (state - candidate)
            states.append(state)
        return torch.stack(states[::-1] if backward else states, 2)


class CopyModel:
    """Reads in both directions; each step writes a word or copies from a place of the source (model/copying.rs)."""

    def __init__(self, sites, units, device):
        self.sites, self.units, self.parameters = sites, units, []

        def weights(shape, bound):
            parameter = torch.empty([sites, *shape], device=device).uniform_(-bound, bound).requires_grad_()
            self.parameters.append(parameter)
            return parameter

        bound = units ** -0.5
        self.embedding = weights([WORDS, units], 0.3)
        self.forward, self.backward, self.decoder = (Gru(weights, units) for _ in range(3))
        self.bridge, self.attention = weights([2 * units, units], bound), weights([units, 2 * units], bound)
        self.output, self.output_bias = weights([3 * units, units], bound), weights([1, units], 0.0)
        self.vocabulary, self.vocabulary_bias = weights([units, WORDS], bound), weights([1, WORDS], 0.0)
        self.gate = weights([units, 1], bound)

    def embed(self, words):
        places = words.flatten(1).unsqueeze(2).expand(-1, -1, self.units)
        return self.embedding.gather(1, places).unflatten(1, words.shape[1:])

    def chances(self, source, inputs, words, is_word, matches):
        """The chances of the words to write, `[sites, pairs, steps]`."""
        embedded, first = self.embed(source), self.embedding.new_zeros(self.sites, BATCH, self.units)
        forward, backward = self.forward.run(embedded, first), self.backward.run(embedded, first, backward=True)
        places = torch.cat([forward, backward], 3)
        ends = torch.cat([forward[:, :, -1], backward[:, :, 0]], 2)
        states = self.decoder.run(self.embed(inputs), torch.tanh(ends @ self.bridge))
        wanted = (states.flatten(1, 2) @ self.attention).unflatten(1, states.shape[1:3])
        where_to = torch.softmax(wanted @ places.transpose(2, 3) * (4 / math.sqrt(2 * self.units)), 3)
        both = torch.cat([states, where_to @ places], 3).flatten(1, 2)
        output = torch.tanh(both @ self.output + self.output_bias)
        vocabulary = torch.softmax(output @ self.vocabulary + self.vocabulary_bias, 2)
        written = vocabulary.unflatten(1, states.shape[1:3]).gather(3, words.unsqueeze(3)).squeeze(3) * is_word
        gate = torch.sigmoid(output @ self.gate).reshape(written.shape)
        return gate * written + (1 - gate) * (where_to * matches).sum(3)


def batch(sites, device):
    """Sources of six names, each with an argument; two names go with their arguments, the rest is copied."""
    shape = (sites, BATCH, SOURCE // 2)
    is_junk = torch.rand(shape, device=device).argsort(2) < (SOURCE - TARGET) // 2
    names = torch.where(is_junk, torch.randint(FIRST_NAME, FIRST_KEPT, shape, device=device),
                        torch.randint(FIRST_KEPT, WORDS, shape, device=device))
    source = torch.stack([names, torch.full_like(names, ARGUMENT)], 3).flatten(2)
    kept = is_junk.int().argsort(dim=2, stable=True)[:, :, :TARGET // 2]
    places = torch.stack([2 * kept, 2 * kept + 1], 3).flatten(2)
    words = source.gather(2, places)
    # What the decoder reads: the end, then the word before.
    inputs = torch.cat([torch.zeros_like(words[:, :, :1]), words[:, :, :-1]], 2)
    is_word = words != ARGUMENT
    at_place = places.unsqueeze(3) == torch.arange(SOURCE, device=device)
    same_word = words.unsqueeze(3) == source.unsqueeze(2)
    matches = torch.where(is_word.unsqueeze(3), same_word, at_place)
    return source, inputs, words, is_word.float(), matches.float()


def prepare(model, optimizer, device, is_graph):
    """A function that makes one step with a batch, and gives the chances of its words."""

    def step(*tensors):
        optimizer.zero_grad(set_to_none=not is_graph)
        chances = model.chances(*tensors)
        # The sum, so that the gradient of a site does not depend on how many there are.
        (-torch.log(chances + 1e-8)).mean((1, 2)).sum().backward()
        optimizer.step()
        return chances

    if not is_graph:
        return step
    # Recorded once, with tensors that keep their place; a batch is copied into them.
    slots, side = batch(model.sites, device), torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step(*slots)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = step(*slots)

    def replay(*tensors):
        for slot, tensor in zip(slots, tensors):
            slot.copy_(tensor)
        graph.replay()
        return result

    return replay


def measure(sites, units, device, is_graph, epochs):
    """The seconds that training takes, and how much was learned."""
    torch.manual_seed(0)
    model = CopyModel(sites, units, device)
    on_gpu = device == "cuda"
    optimizer = torch.optim.Adam(model.parameters, lr=0.64 / units, foreach=on_gpu, capturable=on_gpu)
    step = prepare(model, optimizer, device, is_graph)
    wait = torch.cuda.synchronize if on_gpu else lambda: None
    batches = [batch(sites, device) for _ in range(PAIRS // BATCH)]
    step(*batches[0])
    wait()
    started = time.perf_counter()
    for _ in range(epochs):
        for tensors in batches:
            step(*tensors)
    wait()
    seconds = time.perf_counter() - started
    with torch.no_grad():
        exact = (model.chances(*batch(sites, device)) > 0.5).all(2).float().mean().item()
    return seconds, exact


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sites", type=int, nargs="+", default=[1], help="models in one step (default 1)")
    parser.add_argument("--units", type=int, default=64, help="units of each layer (default 64)")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--graph", action="store_true", help="record a step as a CUDA graph")
    parser.add_argument("--epochs", type=int, default=4, help="passes over the pairs of a site (default 4)")
    args = parser.parse_args()
    if args.graph and args.device != "cuda":
        parser.error("--graph needs --device cuda")
    torch.set_num_threads(1)
    torch.backends.cuda.matmul.allow_tf32 = True
    where = torch.cuda.get_device_name() if args.device == "cuda" else "CPU, one core"
    print(f"PyTorch {torch.__version__}, {where}, {args.units} units" + (", steps as a graph" if args.graph else ""))
    print("\n| sites in one step | pairs/s | sites/s | exact |\n|---|---|---|---|")
    for sites in args.sites:
        seconds, exact = measure(sites, args.units, args.device, args.graph, args.epochs)
        pairs = sites * args.epochs * (PAIRS // BATCH) * BATCH
        print(f"| {sites:,} | {pairs / seconds:,.0f} | {sites / seconds:,.3f} | {exact:.3f} |", flush=True)


if __name__ == "__main__":
    main()
